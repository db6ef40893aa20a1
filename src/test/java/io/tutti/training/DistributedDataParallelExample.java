package io.tutti.training;

import io.tutti.ProcessGroup;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A complete example of data-parallel training with a user's model. The model learns y =
 * 3a - 2b from samples that each rank generates.
 */
final class DistributedDataParallelExample {

	private DistributedDataParallelExample() {
	}

	/** The user's model. */
	static final class Plane extends Module {

		final LinearImpl layer = register_module("layer", new LinearImpl(2, 1));

		Tensor forward(Tensor rows) {
			return this.layer.forward(rows);
		}

	}

	/** Trains this rank's replica and returns it. The replicas of all ranks are equal. */
	static Plane train(ProcessGroup group, int steps) {
		Plane plane = new Plane();
		SGD optimizer = new SGD(plane.parameters(), new SGDOptions(0.1));
		try (DistributedDataParallel replicas = new DistributedDataParallel(group, plane)) {
			for (int step = 0; step < steps; step++) {
				try (PointerScope _ = new PointerScope()) {
					Tensor rows = torch.randn(16, 2);
					Tensor wanted = rows.matmul(torch.tensor(new float[] { 3, -2 })).view(16, 1);
					replicas.zeroGradients();
					torch.mse_loss(plane.forward(rows), wanted).backward();
					replicas.synchronizeGradients();
					optimizer.step();
				}
			}
		}
		return plane;
	}

}
