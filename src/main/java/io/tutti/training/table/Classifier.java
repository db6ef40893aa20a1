package io.tutti.training.table;

import java.util.List;

import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.GeneratorOptional;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A neural network with one hidden layer, which maps a row of features to one score per
 * class.
 */
final class Classifier extends Module {

	/** Hidden units: enough for the digits data set, with steps below a millisecond. */
	static final int HIDDEN = 128;

	private final LinearImpl hidden;

	private final LinearImpl output;

	/**
	 * A network whose initial parameters depend on the seed only. They are drawn from a
	 * separate generator, since any code may use libtorch's global one.
	 */
	Classifier(int columns, int classes, long seed) {
		this.hidden = register_module("hidden", new LinearImpl(columns, HIDDEN));
		this.output = register_module("output", new LinearImpl(HIDDEN, classes));
		initialise(this.hidden, columns, seed);
		initialise(this.output, HIDDEN, seed + 1);
	}

	/** Class scores: rows x columns in, rows x classes out. */
	Tensor forward(Tensor rows) {
		return this.output.forward(torch.relu(this.hidden.forward(rows)));
	}

	/** Draws values uniformly from ±1 / sqrt(inputs), libtorch's default. */
	private static void initialise(LinearImpl layer, int inputs, long seed) {
		double bound = 1 / Math.sqrt(inputs);
		try (NoGradGuard _ = new NoGradGuard();
				Generator generator = torch.createCPUGenerator(seed);
				GeneratorOptional source = new GeneratorOptional(generator)) {
			for (Tensor values : List.of(layer.weight(), layer.bias())) {
				values.uniform_(-bound, bound, source);
			}
		}
	}

}
