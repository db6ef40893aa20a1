package io.tutti.service.command;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;

import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.BufferKind;
import io.tutti.benchmark.Operation;
import io.tutti.benchmark.peer.Peer;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.launch.LauncherWatch;
import io.tutti.service.config.ElasticProperties;
import io.tutti.training.benchmark.LayerStack;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

import org.springframework.context.ApplicationContext;
import org.springframework.util.unit.DataSize;

/**
 * {@code bench}: one rank of a collective benchmark; rank 0 prints the table.
 */
@Command(name = "bench", mixinStandardHelpOptions = true, sortOptions = false,
		exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		description = "One rank of a collective benchmark by the rules of nccl-tests; rank 0 prints the table.",
		footerHeading = "%nExamples:%n",
		footer = { "  ./tutti launch -n 2 bench                                  all-reduce from 4 B to 64 MB",
				"  ./tutti launch -n 2 bench --collective all --max-bytes 1MB",
				"  ./tutti launch -n 4 bench --format tsv > all-reduce.tsv",
				"  ./tutti launch -n 2 bench --against openmpi,mpich --interleave 3",
				"  ./tutti launch -n 2 bench --transport tcp --against openmpi,mpich,gloo",
				"  ./tutti launch -n 2 bench --training                       steps of models with 1, 10 and 100 M parameters" })
final class BenchCommand implements Callable<Integer> {

	private static final String ALL = "all";

	private static final String[] CONGESTION_CONTROLS = { "cubic", "reno", "bbr", "system" };

	private static final List<String> OF_COLLECTIVES = List.of("--collective", "--min-bytes", "--max-bytes", "--factor",
			"--iterations", "--warmup", "--dtype", "--op", "--buffers", "--bind-to", "--against", "--interleave");

	private static final List<String> OF_TRAINING = List.of("--parameters", "--batch");

	@ParentCommand
	private @Nullable TuttiCommand root;

	@Spec
	private @Nullable CommandSpec spec;

	@Option(names = "--collective", paramLabel = "NAME", defaultValue = "all-reduce",
			description = "Operation, such as broadcast or send-receive, or `all` (default: ${DEFAULT-VALUE}).")
	private String collective = ALL;

	@Option(names = "--min-bytes", paramLabel = "SIZE", defaultValue = "4",
			description = "Smallest buffer, such as 64, 16KB or 1MB (default: ${DEFAULT-VALUE}).")
	private String minBytes = "";

	@Option(names = "--max-bytes", paramLabel = "SIZE", defaultValue = "64MB",
			description = "Largest buffer (default: ${DEFAULT-VALUE}).")
	private String maxBytes = "";

	@Option(names = "--factor", paramLabel = "N", defaultValue = "4",
			description = "Growth factor of the size from line to line (default: ${DEFAULT-VALUE}).")
	private int factor;

	@Option(names = "--iterations", paramLabel = "N", defaultValue = "0",
			description = "Samples per size, up to 1000000, with no warm-up but --warmup (default: as many as fill"
					+ " 150 ms, once the code is compiled).")
	private int iterations;

	@Option(names = "--warmup", paramLabel = "N", defaultValue = "0",
			description = "Untimed samples before the others, up to 1000000 (default: a tenth of them).")
	private int warmup;

	@Option(names = "--dtype", paramLabel = "TYPE", defaultValue = "float32",
			description = "Element type (default: ${DEFAULT-VALUE}).")
	private String dtype = "";

	@Option(names = "--op", paramLabel = "OP", defaultValue = "sum",
			description = "Operator (default: ${DEFAULT-VALUE}).")
	private String op = "";

	@Option(names = "--buffers", paramLabel = "KIND", defaultValue = "private",
			description = "private, or engine for buffers allocated by the engine (default: ${DEFAULT-VALUE}).")
	private String buffers = "";

	@Option(names = "--transport", paramLabel = "NAME", description = "Transport: auto, tcp or shm (default: auto).")
	private @Nullable String transport;

	@Option(names = "--congestion-control", paramLabel = "NAME",
			description = "TCP congestion control inside one host: cubic, reno, bbr or system (default: cubic).")
	private @Nullable String congestionControl;

	@Option(names = "--bind-to", paramLabel = "WHAT", defaultValue = "core",
			description = "Binding of each rank's measuring thread, and of the peers' ranks: core, if there are enough,"
					+ " or none (default: ${DEFAULT-VALUE}).")
	private String bindTo = "";

	@Option(names = "--format", paramLabel = "FORMAT", defaultValue = "table",
			description = "table, tsv or json (default: ${DEFAULT-VALUE}).")
	private String format = "";

	@Mixin
	private AgainstOptions against = new AgainstOptions();

	@Mixin
	private TrainingBenchmarkOptions training = new TrainingBenchmarkOptions();

	@Mixin
	private RankOptions options = new RankOptions();

	@Unmatched
	private List<String> rest = new ArrayList<>();

	@Override
	public Integer call() {
		requireOptionsOfItsKind();
		BenchmarkOptions benchmark = TuttiCommand.checked(this.spec.commandLine(), this::benchmark);
		BenchmarkReport report = choose("format", this.format, BenchmarkReport.values(), BenchCommand::lowerCase);
		BindTo bound = choose("bind-to", this.bindTo, BindTo.values(), BenchCommand::lowerCase);
		List<Peer> peers = TuttiCommand.checked(this.spec.commandLine(), () -> this.against.peers(benchmark));
		List<String> properties = this.options.properties(this.spec.commandLine(), this.rest);
		if (this.congestionControl != null) {
			choose("congestion-control", this.congestionControl, CONGESTION_CONTROLS, String::valueOf);
			properties.add("--tutti.transport.congestion-control=" + this.congestionControl);
		}
		if (this.transport != null) {
			choose("transport", this.transport, TransportChoice.values(), BenchCommand::lowerCase);
			properties.add("--tutti.transport.kind=" + this.transport);
		}
		RankService service = new RankService(this.root.application(), properties, RankService.JOB_DEFAULTS,
				this.options.debug());
		try (LauncherWatch _ = LauncherWatch.start(System.getenv(), () -> Signals.raise("TERM"))) {
			if (this.training.isWanted()) {
				return train(service, report);
			}
			return service.run(BenchCommand::requireNotElastic,
					(context) -> peers.isEmpty() ? new BenchmarkRun(context, benchmark, report, bound).run()
							: new ComparisonRun(context, benchmark, peers, this.against.rounds(), bound).run(report));
		}
	}

	private int train(RankService service, BenchmarkReport report) {
		List<LayerStack> models = TuttiCommand.checked(this.spec.commandLine(), this.training::models);
		int batch = TuttiCommand.checked(this.spec.commandLine(), this.training::batch);
		return service.run(BenchCommand::requireNotElastic,
				(context) -> new TrainingBenchmarkRun(context, models, batch, new StepReport(report)).run());
	}

	private static void requireNotElastic(ApplicationContext context) {
		context.getBean(ElasticProperties.class).requireUnset("bench");
	}

	/** Rejects options that would be ignored. */
	private void requireOptionsOfItsKind() {
		ParseResult parsed = this.spec.commandLine().getParseResult();
		for (String option : this.training.isWanted() ? OF_COLLECTIVES : OF_TRAINING) {
			if (parsed.hasMatchedOption(option)) {
				throw new ParameterException(this.spec.commandLine(), this.training.isWanted()
						? option + " is for collectives: omit it or --training" : option + " needs --training");
			}
		}
	}

	private BenchmarkOptions benchmark() {
		DataType type = choose("dtype", this.dtype, DataType.values(), DataType::label);
		return new BenchmarkOptions(operations(), Math.max(type.bytes(), bytes("min-bytes", this.minBytes)),
				bytes("max-bytes", this.maxBytes), this.factor, this.iterations, this.warmup, type,
				choose("op", this.op, ReduceOp.values(), ReduceOp::label),
				choose("buffers", this.buffers, BufferKind.values(), BenchCommand::lowerCase), Duration.ofMillis(150));
	}

	private List<Operation> operations() {
		return this.collective.equals(ALL) ? List.of(Operation.values())
				: List.of(choose("collective", this.collective, Operation.values(), Operation::label, ALL));
	}

	private static long bytes(String option, String size) {
		try {
			return DataSize.parse(size).toBytes();
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException("--" + option + " must be a size such as 4, 1KB or 64MB, got " + size,
					ex);
		}
	}

	private static String lowerCase(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * The value of a label.
	 * @param others further labels that the option accepts, for the error message
	 */
	private <T> T choose(String option, String given, T[] values, Function<? super T, String> label, String... others) {
		List<String> labels = new ArrayList<>();
		for (T value : values) {
			if (label.apply(value).equals(given)) {
				return value;
			}
			labels.add(label.apply(value));
		}
		labels.addAll(List.of(others));
		throw new ParameterException(this.spec.commandLine(),
				"--" + option + " must be one of " + String.join(", ", labels) + ", got " + given);
	}

}
