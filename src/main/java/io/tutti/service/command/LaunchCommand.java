package io.tutti.service.command;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.ExitCode;
import io.tutti.engine.backend.Backends;
import io.tutti.launch.ElasticRanks;
import io.tutti.launch.LaunchConsole;
import io.tutti.launch.LaunchPlan;
import io.tutti.launch.LaunchTimings;
import io.tutti.launch.LaunchedCommand;
import io.tutti.launch.LocalLauncher;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.TuttiProgram;
import io.tutti.launch.NearestName;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code launch}: starts ranks on this machine. All arguments after the launched
 * command's first word, options included, belong to that command.
 */
@Command(name = "launch", description = "Starts ranks on this machine with torchrun's options and variables.",
		mixinStandardHelpOptions = true, exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION,
		modelTransformer = LaunchCommand.StopAtCommand.class, sortOptions = false, footerHeading = "%nExamples:%n",
		footer = { "  ./tutti launch -n 2 train --epochs 5       trains on two ranks",
				"  ./tutti launch -n 3 serve                  serves on 8080, 8081, 8082",
				"  ./tutti launch -n 4 bench --format tsv     only rank 0's table on stdout",
				"  ./tutti launch -n 2 --max-restarts 3 train restarts both after a failure",
				"  ./tutti launch -n 4 --min-ranks 2 --max-restarts 9 train",
				"                                             restarts only the ranks that are lost",
				"  ./tutti launch -n 2 -- python worker.py    any program",
				"  ./tutti launch -n 8 --nnodes 2 --node-rank 1 --master-addr host0 train",
				"                                             the second of two machines" })
public final class LaunchCommand implements Callable<Integer> {

	/** A name and not a class literal, so that the launcher loads no Spring class. */
	private static final String APPLICATION = "io.tutti.service.TuttiApplication";

	/** In the message of the JDK for a program whose interpreter or loader is missing. */
	private static final String NO_SUCH_FILE = "error: 2 ";

	private static final List<String> COMMANDS = List.of("serve", "train", "bench", "env");

	@Option(names = { "-n", "--nproc-per-node" }, paramLabel = "N", defaultValue = "1",
			description = "Ranks on this machine (default: 1).")
	private int ranksPerNode;

	@Option(names = "--nnodes", paramLabel = "N", defaultValue = "1", description = "Number of machines (default: 1).")
	private int nodes;

	@Option(names = "--node-rank", paramLabel = "R", defaultValue = "0",
			description = "Index of this machine, from 0 (default: 0).")
	private int nodeRank;

	@Option(names = "--master-addr", paramLabel = "HOST",
			description = "Rendezvous address: the machine with node rank 0 (default: this machine).")
	private @Nullable String masterAddress;

	@Option(names = "--master-port", paramLabel = "PORT",
			description = "Rendezvous port (default: a free port; 29500 with several machines).")
	private @Nullable Integer masterPort;

	@Option(names = "--max-restarts", paramLabel = "K", defaultValue = "0",
			description = "Number of restarts of the whole group after failures; with --min-ranks, of single ranks of this "
					+ "machine in all (default: 0).")
	private int maxRestarts;

	@Option(names = "--min-ranks", paramLabel = "N",
			description = "Continue without lost ranks while at least N are left, and restart only the lost ones.")
	private @Nullable Integer minRanks;

	@Option(names = "--max-ranks", paramLabel = "N",
			description = "With --min-ranks: let further ranks join, up to N (default: as many as"
					+ " tutti.elastic.endpoints has, otherwise the ranks started).")
	private @Nullable Integer maxRanks;

	@Option(names = "--http-port", paramLabel = "PORT",
			description = "HTTP port of the first rank; the next ones follow it.")
	private @Nullable Integer httpPort;

	@Option(names = "--profile", paramLabel = "NAMES",
			description = "Spring profiles of every rank, separated by commas: a backend (tcp, mpi or nccl), and any others.")
	private @Nullable String profile;

	@Parameters(paramLabel = "COMMAND", arity = "1..*",
			description = "train, serve, bench or env with its options; or any program.")
	private List<String> command = List.of();

	@Override
	public Integer call() throws InterruptedException {
		LaunchConsole console = LaunchConsole.ofThisProcess();
		try {
			Map<String, String> environment = environment();
			LaunchedCommand launched = launched();
			ProcessProperties ofRanks = ofRanks(launched).with(this.command);
			LaunchPlan plan = plan(launched, ofRanks, environment);
			LaunchTimings timings = LaunchTimings.from(ofRanks);
			return new StoppableLaunch(new LocalLauncher(plan, timings, console), timings.longestStop()).run();
		}
		catch (IllegalArgumentException ex) {
			console.say(String.valueOf(ex.getMessage()));
			return ExitCode.BAD_CONFIGURATION;
		}
		catch (IOException ex) {
			String program = launched().words().getFirst();
			String message = String.valueOf(ex.getMessage()).strip();
			boolean internal = isProgram(program) && !message.contains(NO_SUCH_FILE);
			console.say(internal ? message : describeUnusable(program));
			return internal ? ExitCode.INTERNAL : ExitCode.BAD_CONFIGURATION;
		}
	}

	/**
	 * Says why a program cannot run, and suggests the nearest command if there is none.
	 */
	private static String describeUnusable(String word) {
		if (isProgram(word)) {
			return word + " cannot run on this machine: the interpreter that its first line names, or its loader, does"
					+ " not exist here";
		}
		if (word.contains(File.separator)) {
			return (Files.exists(Path.of(word)) ? "program not executable: " : "program not found: ") + word;
		}
		return "neither a command nor a program: " + word + ". "
				+ NearestName.advice(word, COMMANDS, "The commands are " + String.join(", ", COMMANDS));
	}

	private static boolean isProgram(String word) {
		String folders = word.contains(File.separator) ? "" : System.getenv().getOrDefault("PATH", "");
		return Stream.of(folders.split(File.pathSeparator))
			.map((folder) -> Path.of(folder, word))
			.anyMatch((program) -> Files.isRegularFile(program) && Files.isExecutable(program));
	}

	private LaunchPlan plan(LaunchedCommand launched, ProcessProperties ofRanks, Map<String, String> environment) {
		if (this.nodes > 1 && this.masterAddress == null) {
			throw new IllegalArgumentException(
					"--nnodes " + this.nodes + " needs --master-addr, the machine with node rank 0");
		}
		String address = (this.masterAddress != null) ? this.masterAddress : RankAssignment.DEFAULT_MASTER_ADDRESS;
		Integer port = (this.masterPort == null && this.nodes > 1) ? Integer.valueOf(RankAssignment.DEFAULT_MASTER_PORT)
				: this.masterPort;
		return new LaunchPlan(launched, this.ranksPerNode, this.nodes, this.nodeRank, address, port, this.maxRestarts,
				elastic(launched, ofRanks), environment);
	}

	private @Nullable ElasticRanks elastic(LaunchedCommand launched, ProcessProperties ofRanks) {
		if (launched.canContinue()) {
			return ElasticRanks.of(this.minRanks, this.maxRanks, this.ranksPerNode * this.nodes, ofRanks);
		}
		if (this.minRanks != null || this.maxRanks != null) {
			throw new IllegalArgumentException("--min-ranks and --max-ranks are for serve, train and programs: Tutti's"
					+ " other commands cannot continue without lost ranks");
		}
		return null;
	}

	private LaunchedCommand launched() {
		return LaunchedCommand.of(this.command, TuttiProgram.ofThisProcess(APPLICATION));
	}

	/**
	 * The properties of the ranks; only Tutti's own commands read configuration files.
	 */
	private ProcessProperties ofRanks(LaunchedCommand launched) {
		if (launched.kind() == LaunchedCommand.Kind.PROGRAM) {
			return ProcessProperties.ofThisProcess();
		}
		Stream<String> profiles = Stream.ofNullable(this.profile).map("--spring.profiles.active="::concat);
		Stream<String> options = this.command.stream().filter((word) -> word.startsWith("--spring."));
		return ProcessProperties.of(ConfiguredProperties.read(Stream.concat(profiles, options).toList(), (_) -> {
		}));
	}

	private Map<String, String> environment() {
		Map<String, String> environment = new HashMap<>();
		if (this.httpPort != null) {
			requireHttpPorts(this.httpPort);
			environment.put("TUTTI_HTTP_PORT", this.httpPort.toString());
		}
		if (this.profile != null) {
			environment.put("SPRING_PROFILES_ACTIVE", this.profile);
			// Read by programs without Spring.
			environment.put("TUTTI_BACKEND", backend(this.profile));
		}
		return environment;
	}

	/** The backend among the profiles, which an application's own may accompany. */
	private static String backend(String profiles) {
		List<String> backends = Backends.names();
		List<String> named = Stream.of(profiles.split(","))
			.map(String::strip)
			.filter(backends::contains)
			.distinct()
			.toList();
		if (named.isEmpty()) {
			throw new IllegalArgumentException("--profile " + profiles + " is not a backend. "
					+ NearestName.advice(profiles, backends, "The backends are " + String.join(", ", backends)));
		}
		if (named.size() > 1) {
			throw new IllegalArgumentException(
					"--profile " + profiles + " names the backends " + String.join(" and ", named) + ": keep one");
		}
		return named.getFirst();
	}

	private void requireHttpPorts(int first) {
		int most = 65_536 - this.ranksPerNode;
		if (first < 1 || first > most) {
			throw new IllegalArgumentException("--http-port must be in 1.." + most + " (" + this.ranksPerNode
					+ ((this.ranksPerNode == 1) ? " rank takes one port" : " ranks take one port each") + "), got "
					+ first);
		}
	}

	/** Stops option parsing at the launched command's first word. */
	static final class StopAtCommand implements IModelTransformer {

		@Override
		public CommandSpec transform(CommandSpec spec) {
			spec.parser().stopAtPositional(true);
			return spec;
		}

	}

}
