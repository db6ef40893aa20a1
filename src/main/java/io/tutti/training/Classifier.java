package io.tutti.training;

import java.util.List;

import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.GeneratorOptional;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A network with one hidden layer: features in, a score per class out.
 */
final class Classifier extends Module {

	/** Hidden units: enough for the digits, and a step stays below a millisecond. */
	static final int HIDDEN = 128;

	private final LinearImpl hidden;

	private final LinearImpl output;

	/**
	 * A network whose parameters follow from the seed alone: they are drawn from a
	 * generator of their own, since libtorch's common one is anybody's.
	 */
	Classifier(int columns, int classes, long seed) {
		this.hidden = register_module("hidden", new LinearImpl(columns, HIDDEN));
		this.output = register_module("output", new LinearImpl(HIDDEN, classes));
		initialise(this.hidden, columns, seed);
		initialise(this.output, HIDDEN, seed + 1);
	}

	/** Scores of each row's classes. */
	Tensor forward(Tensor rows) {
		return this.output.forward(torch.relu(this.hidden.forward(rows)));
	}

	/** Uniform within one over the square root of the inputs, libtorch's own default. */
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
