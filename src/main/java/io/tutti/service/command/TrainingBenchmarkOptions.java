package io.tutti.service.command;

import java.util.ArrayList;
import java.util.List;

import io.tutti.training.benchmark.LayerStack;
import picocli.CommandLine.Option;

/**
 * Options of a benchmark of training steps.
 */
final class TrainingBenchmarkOptions {

	private static final int MAX_BATCH = 1 << 20;

	@Option(names = "--training", description = "Measure training steps instead of collectives, with and without"
			+ " communication, and PyTorch's c10d over Gloo, if it is installed and all ranks are on this host.")
	private boolean training;

	@Option(names = "--parameters", paramLabel = "LIST", defaultValue = "1,10,100",
			description = "With --training: sizes of the models in millions of parameters (default: ${DEFAULT-VALUE}).")
	private String parameters = "";

	@Option(names = "--batch", paramLabel = "N", defaultValue = "32",
			description = "With --training: samples per rank and step (default: ${DEFAULT-VALUE}).")
	private int batch;

	boolean isWanted() {
		return this.training;
	}

	/**
	 * Samples per rank and step.
	 * @throws IllegalArgumentException if out of range
	 */
	int batch() {
		if (this.batch < 1 || this.batch > MAX_BATCH) {
			throw new IllegalArgumentException("--batch must be in 1.." + MAX_BATCH + ", got " + this.batch);
		}
		return this.batch;
	}

	/**
	 * The models.
	 * @throws IllegalArgumentException if the list is malformed or a size out of range
	 */
	List<LayerStack> models() {
		List<LayerStack> models = new ArrayList<>();
		for (String millions : this.parameters.split(",", -1)) {
			try {
				models.add(LayerStack.ofAbout(Double.parseDouble(millions) * 1e6));
			}
			catch (NumberFormatException ex) {
				throw new IllegalArgumentException(
						"--parameters must be a list of millions such as 1,10,100, got " + this.parameters, ex);
			}
		}
		return models;
	}

}
