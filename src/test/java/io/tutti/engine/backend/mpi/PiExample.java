package io.tutti.engine.backend.mpi;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.launch.standalone.MpiEnvironment;

/**
 * The example of {@code src/docs/mpi.md}: every rank integrates a share of the curve.
 */
final class PiExample {

	private PiExample() {
	}

	public static void main(String[] args) {
		try (Mpi mpi = MpiEnvironment.init()) {
			Communicator world = mpi.world();
			int[] steps = { (world.rank() == 0) ? 1_000_000 : 0 };
			world.bcast(steps, 1, DataType.INT32, 0);

			double[] sum = { 0 };
			for (int i = world.rank(); i < steps[0]; i += world.size()) {
				double x = (i + 0.5) / steps[0];
				sum[0] += 4 / (1 + x * x) / steps[0];
			}
			world.allReduce(sum, 1, DataType.FLOAT64, ReduceOp.SUM);

			if (world.rank() == 0) {
				System.out.printf("pi is %.9f by %d ranks%n", sum[0], world.size());
			}
		}
	}

}
