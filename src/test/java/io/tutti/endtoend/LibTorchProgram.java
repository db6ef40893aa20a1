package io.tutti.endtoend;

import io.tutti.ProcessGroup;
import io.tutti.training.DistributedDataParallel;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A rank of a user's own program, which uses libtorch through the plain library.
 */
final class LibTorchProgram {

	private LibTorchProgram() {
	}

	static void main(String[] arguments) {
		try (ProcessGroup group = ProcessGroup.fromEnvironment()) {
			LinearImpl model = new LinearImpl(3, 2);
			try (DistributedDataParallel replicas = new DistributedDataParallel(group, model);
					Tensor input = torch.ones(4, 3);
					Tensor loss = model.forward(input).sum()) {
				loss.backward();
				replicas.synchronizeGradients();
				System.out.println("a step was taken on rank " + group.rank());
			}
		}
	}

}
