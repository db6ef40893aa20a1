package io.tutti.service.command;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;

import io.tutti.BadConfigurationException;
import io.tutti.ExitCode;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.training.LibtorchLoader;
import io.tutti.training.TrainingTask;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.job.RankShares;
import io.tutti.training.job.ReportException;
import io.tutti.training.job.TrainingOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

import org.springframework.context.ApplicationContext;

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
				"  ./tutti launch -n 2 train --checkpoint run1       continues from the checkpoint",
				"  ./tutti train --task com.acme.Fit --class-path fit.jar --help",
				"                                                    the options of a task of your own" })
final class TrainCommand implements Callable<Integer> {

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

	@Option(names = "--seed", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_SEED,
			description = "Seed of the split, the initial parameters and the order of samples"
					+ " (default: ${DEFAULT-VALUE}).")
	private long seed;

	@Option(names = "--rank-weights", paramLabel = "LIST",
			description = "Weights by which the ranks share each batch, such as 1,2,2, or `measured` for the speeds of"
					+ " the first steps (default: equal shares).")
	private @Nullable String rankWeights;

	@Option(names = "--sharded-optimizer",
			description = "Divide the optimizer's state among the ranks (ZeRO stage 1); the result is the same.")
	private boolean shardedOptimizer;

	@Option(names = "--threads", paramLabel = "N", defaultValue = "" + TrainingOptions.DEFAULT_THREADS,
			description = "Threads inside one operation of libtorch (default: ${DEFAULT-VALUE}).")
	private int threads;

	@Option(names = "--checkpoint", paramLabel = "DIR",
			description = "Checkpoint directory; the job continues from the newest checkpoint in it.")
	private @Nullable Path checkpoint;

	@Option(names = "--checkpoint-every", paramLabel = "N", defaultValue = "0",
			description = "Steps between checkpoints (default: one after each epoch).")
	private int checkpointEvery;

	@Option(names = "--keep-checkpoints", paramLabel = "N", defaultValue = "" + CheckpointOptions.DEFAULT_KEEP,
			description = "Checkpoints to keep; older ones are deleted (default: ${DEFAULT-VALUE}).")
	private int keepCheckpoints;

	@Option(names = "--report", paramLabel = "FILE", description = "File to which rank 0 writes the summary as JSON.")
	private @Nullable Path report;

	@Mixin
	private TaskSelection selection = new TaskSelection();

	/** Of the selected task, {@code null} for a bean. */
	private @Nullable TaskType type;

	@Mixin
	private RankOptions options = new RankOptions();

	@Unmatched
	private List<String> rest = new ArrayList<>();

	/**
	 * Adds the options of the task that the arguments select.
	 * @throws ParameterException if there is no such task
	 */
	static void addTaskOptions(CommandLine train, String... arguments) {
		TrainCommand command = train.getCommand();
		TaskSelection selected = TaskSelection.among(arguments);
		try {
			command.type = TaskType.find(selected.name(), selected.loader());
			if (command.type != null && command.type.options() != null) {
				List<OptionSpec> own = List.copyOf(train.getCommandSpec().options());
				List<OptionSpec> added = new TaskOptions(command.type.options()).addTo(train.getCommandSpec());
				String heading = String.format(Locale.ROOT, "%nOptions of the task %s:%n", command.type.name());
				train.getHelpSectionMap()
					.put(UsageMessageSpec.SECTION_KEY_OPTION_LIST,
							(help) -> table(help, own) + heading + table(help, added));
			}
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(train, ex.getMessage(), ex);
		}
	}

	private static String table(CommandLine.Help help, List<OptionSpec> options) {
		CommandLine.Help.Layout layout = help.createDefaultLayout();
		layout.addOptions(options, help.createDefaultParamLabelRenderer());
		return layout.toString();
	}

	@Override
	public Integer call() {
		TrainingOptions training = TuttiCommand.checked(this.spec.commandLine(), this::training);
		List<String> properties = this.options.properties(this.spec.commandLine(), this.rest);
		Object taskOptions = TuttiCommand.checked(this.spec.commandLine(), this::taskOptions);
		LibtorchLoader.begin();
		Function<ApplicationContext, TrainingTask> task = TuttiCommand.checked(this.spec.commandLine(),
				() -> task(taskOptions));
		try (StopRequest stop = StopRequest.listen(System.getenv())) {
			RankService service = new RankService(this.root.application(), properties, RankService.JOB_DEFAULTS,
					this.options.debug());
			return service.run((context) -> check(context, training),
					(context) -> train(context, task.apply(context), training, stop));
		}
	}

	private static int train(ApplicationContext context, TrainingTask task, TrainingOptions options, StopRequest stop)
			throws Exception {
		try {
			return context.getBean(GroupLifecycle.class).isElastic()
					? ElasticTrainingRun.of(context, task, options).run(stop)
					: TrainingRun.of(context, task, options).run(stop);
		}
		catch (ReportException ex) {
			TrainingReportText.print(ex);
			throw ex;
		}
	}

	private void check(ApplicationContext context, TrainingOptions options) {
		if (this.type == null) {
			requireBean(context, this.selection.name());
		}
		if (context.getBean(GroupLifecycle.class).isElastic()) {
			ElasticTrainingRun.check(context, options);
			return;
		}
		TrainingRun.check(context, options);
	}

	private @Nullable Object taskOptions() {
		return (this.type != null && this.type.options() != null) ? new TaskOptions(this.type.options()).read(this.spec)
				: null;
	}

	/** Creates the task, or finds the bean once the application has started. */
	private Function<ApplicationContext, TrainingTask> task(@Nullable Object taskOptions) {
		if (this.type == null) {
			// Spring takes the classes and auto-configurations of an application from
			// this loader.
			Thread.currentThread().setContextClassLoader(this.selection.loader());
			return (context) -> context.getBean(this.selection.name(), TrainingTask.class);
		}
		TrainingTask created = this.type.create(taskOptions);
		Thread.currentThread().setContextClassLoader(created.getClass().getClassLoader());
		return (_) -> created;
	}

	private static void requireBean(ApplicationContext context, String name) {
		String beans = String.join(", ", context.getBeanNamesForType(TrainingTask.class));
		if (!context.containsBean(name) || !context.isTypeMatch(name, TrainingTask.class)) {
			throw new BadConfigurationException(
					"--task " + name + " is neither a class nor a bean of type TrainingTask"
							+ (beans.isEmpty() ? "" : "; the beans are " + beans),
					"Give the full name of the class, and the jar that holds it with --class-path");
		}
	}

	private @Nullable CheckpointOptions checkpoints() {
		if (this.checkpoint != null) {
			return new CheckpointOptions(this.checkpoint, this.checkpointEvery, this.keepCheckpoints);
		}
		if (this.checkpointEvery != 0) {
			throw new IllegalArgumentException("a checkpoint every " + this.checkpointEvery
					+ " steps needs a checkpoint directory, and none was given; add --checkpoint");
		}
		if (this.spec.commandLine().getParseResult().hasMatchedOption("--keep-checkpoints")) {
			throw new IllegalArgumentException(
					"--keep-checkpoints needs a checkpoint directory, and none was given; add --checkpoint");
		}
		return null;
	}

	private TrainingOptions training() {
		return new TrainingOptions(this.epochs, this.globalBatch, this.seed, this.threads, checkpoints(), this.report,
				(this.rankWeights != null) ? RankShares.parse(this.rankWeights) : RankShares.EQUAL,
				this.shardedOptimizer);
	}

}
