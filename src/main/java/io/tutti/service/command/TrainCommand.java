package io.tutti.service.command;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import io.tutti.ExitCode;
import io.tutti.service.config.RankLogging;
import io.tutti.training.ClassifierOptions;
import io.tutti.training.ClassifierTask;
import io.tutti.training.LibtorchLoader;
import io.tutti.training.TrainingOptions;
import io.tutti.training.TrainingTask;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code train}: one rank of a data-parallel training job, with its HTTP service.
 */
@Command(name = "train", mixinStandardHelpOptions = true, sortOptions = false,
		exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		description = "One rank of a data-parallel training job; exits when it is done.",
		footerHeading = "%nExamples:%n",
		footer = { "  ./tutti launch -n 2 train                         two ranks, the bundled digits data set",
				"  ./tutti launch -n 2 train --epochs 5 --report r.json",
				"  ./tutti launch -n 4 train --data table.csv.gz     numbers, the class in the last column",
				"  ./tutti launch -n 4 train --data a.csv --test-data b.csv --separator ';' --label species",
				"  ./tutti launch -n 2 train --checkpoint run1       continues from the checkpoint" })
final class TrainCommand implements Callable<Integer> {

	/**
	 * Any free HTTP port: several jobs may run at once, and the port need not be known in
	 * advance.
	 */
	private static final Map<String, Object> DEFAULTS = Map.of("tutti.http.port", 0, RankLogging.QUIET_OTHERS, true);

	@ParentCommand
	private @Nullable TuttiCommand root;

	@Spec
	private @Nullable CommandSpec spec;

	@Option(names = "--epochs", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_EPOCHS,
			description = "Passes over the training samples (default: ${DEFAULT-VALUE}).")
	private int epochs;

	@Option(names = "--global-batch", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_GLOBAL_BATCH,
			description = "Samples per step over all ranks together (default: ${DEFAULT-VALUE}).")
	private int globalBatch;

	@Option(names = "--learning-rate", paramLabel = "X", defaultValue = "" + ClassifierOptions.DEFAULT_LEARNING_RATE,
			description = "Step size of the optimizer in the first epoch; in epoch k it is divided by (k + 1) / 2"
					+ " (default: ${DEFAULT-VALUE}).")
	private double learningRate;

	@Option(names = "--seed", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_SEED,
			description = "Seed of the split, the initial parameters and the order of samples"
					+ " (default: ${DEFAULT-VALUE}).")
	private long seed;

	@Option(names = "--threads", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_THREADS,
			description = "Threads inside one operation of libtorch (default: ${DEFAULT-VALUE}).")
	private int threads;

	@Option(names = "--data", paramLabel = "FILE",
			description = "Table to train on, .csv or .csv.gz: numbers and a class per line (default: the digits).")
	private @Nullable Path data;

	@Option(names = "--label", paramLabel = "COLUMN",
			description = "Column of the class, a number or a text: its number from 1, or its name in the header"
					+ " (default: the last column).")
	private @Nullable String label;

	@Option(names = "--separator", paramLabel = "CHAR",
			description = "Separates the cells of a line: one character, or tab (default: a comma).")
	private @Nullable String separator;

	@Option(names = "--header", negatable = true, fallbackValue = "true",
			description = "The first line holds the names of the columns, or with --no-header a row"
					+ " (default: names if none of its cells is a number).")
	private @Nullable Boolean header;

	@Option(names = "--test-data", paramLabel = "FILE",
			description = "Table to test on, with the columns of --data (default: a fifth of the rows of --data).")
	private @Nullable Path testData;

	@Option(names = "--checkpoint", paramLabel = "DIR",
			description = "Checkpoint directory; the job continues from a checkpoint in it.")
	private @Nullable Path checkpoint;

	@Option(names = "--checkpoint-every", paramLabel = "N", defaultValue = "0",
			description = "Steps between checkpoints (default: one after each epoch).")
	private int checkpointEvery;

	@Option(names = "--report", paramLabel = "FILE", description = "File to which rank 0 writes the summary as JSON.")
	private @Nullable Path report;

	@Mixin
	private RankOptions options = new RankOptions();

	@Unmatched
	private List<String> rest = new ArrayList<>();

	@Override
	public Integer call() {
		TrainingOptions training = training();
		TrainingTask task = task();
		List<String> properties = this.options.properties(this.spec.commandLine(), this.rest);
		LibtorchLoader.begin();
		try (StopRequest stop = StopRequest.listen(System.getenv())) {
			RankService service = new RankService(this.root.application(), properties, DEFAULTS, this.options.debug());
			return service.run((context) -> TrainingRun.of(context, task, training).run(stop));
		}
	}

	private TrainingTask task() {
		try {
			return new ClassifierTask(new ClassifierOptions(this.learningRate, this.data, this.label, this.separator,
					this.header, this.testData));
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(this.spec.commandLine(), ex.getMessage(), ex);
		}
	}

	private TrainingOptions training() {
		try {
			return new TrainingOptions(this.epochs, this.globalBatch, this.seed, this.threads, this.checkpoint,
					this.checkpointEvery, this.report);
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(this.spec.commandLine(), ex.getMessage(), ex);
		}
	}

}
