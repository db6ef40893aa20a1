package io.tutti.training;

import io.tutti.engine.ProcessGroup;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * All that it takes to train a model of one's own on every rank: here one that finds y =
 * 3a - 2b from examples that each rank makes up for itself.
 */
final class DistributedDataParallelExample {

	private DistributedDataParallelExample() {
	}

	/** The user's own model. */
	static final class Plane extends Module {

		final LinearImpl layer = register_module("layer", new LinearImpl(2, 1));

		Tensor forward(Tensor rows) {
			return this.layer.forward(rows);
		}

	}

	/** Trains this rank's replica and returns it: every rank's is the same. */
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
