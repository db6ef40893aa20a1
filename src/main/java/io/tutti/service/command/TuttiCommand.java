package io.tutti.service.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.training.table.MalformedDataException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * The command line. Selects the command that the first word names.
 */
@Command(name = "tutti", mixinStandardHelpOptions = true, versionProvider = TuttiCommand.VersionProvider.class,
		description = "Collective communication and data-parallel training for the JVM.",
		exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION, exitCodeOnExecutionException = ExitCode.INTERNAL,
		footerHeading = "%nExamples:%n",
		footer = { "  ./tutti launch -n 2 train          two ranks on this machine train a model together",
				"  ./tutti launch -n 2 bench          speed of collectives between two ranks",
				"  ./tutti launch -n 3 serve          three ranks with HTTP on 8080, 8081 and 8082",
				"  ./tutti serve                      one rank; the default command",
				"  mpirun -np 4 ./tutti train         the same commands under another launcher",
				"  ./tutti export run1 model.pt       the model of a checkpoint, for torch.load in Python",
				"  ./tutti env                        explains the resolved rank of this process",
				"%nThe commands serve, train, bench and env take any property of src/docs/configuration.md as --name=value." })
public final class TuttiCommand implements Runnable {

	private static final String DEFAULT_COMMAND = "serve";

	private static final String TRAIN = "train";

	/** In the order of the help text; the last one is hidden. */
	private static final List<String> COMMANDS = List.of("serve", "train", "bench", "launch", "export", "env",
			"rehearse");

	/** Leads to a file, or has the name of a pipe. */
	private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");

	/** Examples stay on one line. */
	private static final int HELP_WIDTH = 110;

	private final Class<?> application;

	@Spec
	private @Nullable CommandSpec spec;

	private TuttiCommand(Class<?> application) {
		this.application = application;
	}

	/**
	 * Runs the command that the arguments name, or {@code serve}.
	 * @param application the Spring application to run a rank in
	 * @return the exit code
	 */
	public static int execute(Class<?> application, String... args) {
		String[] words = withDefault(args);
		if (words[0].equals(TRAIN)) {
			words = withoutDelimiter(words);
		}
		try {
			return written(commandLine(application, COMMANDS.contains(words[0]) ? List.of(words[0]) : COMMANDS, words)
				.execute(words));
		}
		catch (ParameterException ex) {
			return refuse(ex, words);
		}
		catch (Error ex) {
			return FailureMessage.tell(ex, System.err);
		}
	}

	/**
	 * A result that the disk had no room for is no success. A reader may leave a pipe.
	 */
	private static int written(int code) {
		if (code != ExitCode.DONE || !System.out.checkError() || isPipe()) {
			return code;
		}
		System.err.println("tutti: standard output could not be written; it may be on a full disk");
		return ExitCode.INTERNAL;
	}

	private static boolean isPipe() {
		try {
			return !Files.readSymbolicLink(STANDARD_OUTPUT).isAbsolute();
		}
		catch (IOException ex) {
			return true;
		}
	}

	/**
	 * The options of a task may follow a delimiter. Its names differ from those of
	 * {@code train}, so that it is not needed.
	 */
	private static String[] withoutDelimiter(String... words) {
		List<String> kept = new ArrayList<>(List.of(words));
		kept.remove("--");
		return kept.toArray(String[]::new);
	}

	/**
	 * Creates a command line with some of the commands. Reading the description of a
	 * command takes time and loads Spring for some, so commands that are not called are
	 * left out.
	 * @param words the arguments, which select the task whose options {@code train} has
	 */
	static CommandLine commandLine(Class<?> application, List<String> commands, String... words) {
		CommandLine tutti = new CommandLine(new TuttiCommand(application));
		for (String name : commands) {
			CommandLine command = new CommandLine(command(name));
			command.getCommandSpec().versionProvider(tutti.getCommandSpec().versionProvider());
			tutti.addSubcommand(command);
		}
		CommandLine train = tutti.getSubcommands().get(TRAIN);
		if (train != null) {
			TrainCommand.addTaskOptions(train, words);
		}
		return tutti.setUsageHelpWidth(HELP_WIDTH)
			.registerConverter(Path.class, TuttiCommand::path)
			.registerConverter(int.class, number(Integer::valueOf))
			.registerConverter(Integer.class, number(Integer::valueOf))
			.registerConverter(long.class, number(Long::valueOf))
			.registerConverter(Long.class, number(Long::valueOf))
			.setParameterExceptionHandler(TuttiCommand::refuse)
			// The class itself would write to the System.err of its creation.
			.setExecutionStrategy(new CommandLine.RunLast()::execute)
			.setExecutionExceptionHandler((failure, commandLine, parsed) -> FailureMessage.tell(failure, System.err));
	}

	/**
	 * An empty text, as an unset shell variable gives, would name the working directory.
	 */
	private static Path path(String text) {
		if (text.isBlank()) {
			throw new TypeConversionException("a path must not be empty");
		}
		return Path.of(text);
	}

	/** The class itself would name the type of a program's variable. */
	private static <T> ITypeConverter<T> number(Function<String, T> parser) {
		return (text) -> {
			try {
				return parser.apply(text);
			}
			catch (NumberFormatException ex) {
				throw new TypeConversionException(
						"'" + text + "' is " + (text.matches("[+-]?\\d+") ? "out of range" : "not a whole number"));
			}
		};
	}

	/** Creates a command line with every command. */
	static CommandLine commandLine(Class<?> application) {
		return commandLine(application, COMMANDS);
	}

	private static Callable<Integer> command(String name) {
		return switch (name) {
			case "serve" -> new ServeCommand();
			case "train" -> new TrainCommand();
			case "bench" -> new BenchCommand();
			case "launch" -> new LaunchCommand();
			case "export" -> new ExportCommand();
			case "env" -> new EnvCommand();
			case "rehearse" -> new RehearseCommand();
			default -> throw new IllegalArgumentException("unknown command " + name);
		};
	}

	/** Prints the error without the whole usage, which would hide it. */
	private static int refuse(ParameterException failure, String[] args) {
		CommandLine commandLine = failure.getCommandLine();
		PrintWriter err = commandLine.getErr();
		err.println("tutti: " + failure.getMessage());
		CommandLine.UnmatchedArgumentException.printSuggestions(failure, err);
		if (failure instanceof CommandLine.UnmatchedArgumentException unmatched) {
			adviseOnLaunch(unmatched.getUnmatched().getFirst().split("=", 2)[0], commandLine, err);
		}
		if (commandLine.getCommand() instanceof TuttiCommand) {
			err.println("The commands are " + String.join(", ", COMMANDS.subList(0, COMMANDS.size() - 1)) + ".");
		}
		err.println("Try `" + commandLine.getCommandSpec().qualifiedName() + " --help`.");
		return commandLine.getCommandSpec().exitCodeOnInvalidInput();
	}

	/**
	 * Options of {@code launch} after the command that it starts are a common mistake.
	 */
	private static void adviseOnLaunch(String option, CommandLine commandLine, PrintWriter err) {
		CommandLine launch = new CommandLine(command("launch"));
		if (launch.getCommandSpec().optionsMap().containsKey(option)) {
			err.println(option + " is an option of launch, which comes before the command, as in `tutti launch -n 2 "
					+ commandLine.getCommandName() + "`.");
		}
	}

	/** Prepends the default command to options, except to those of the root. */
	static String[] withDefault(String... args) {
		if (args.length > 0 && (!args[0].startsWith("-") || isRootOption(args[0]))) {
			return args;
		}
		return Stream.concat(Stream.of(DEFAULT_COMMAND), Stream.of(args)).toArray(String[]::new);
	}

	/** Reports a refused argument as a mistake on the command line. */
	static <T extends @Nullable Object> T checked(CommandLine commandLine, Supplier<T> arguments) {
		try {
			return arguments.get();
		}
		catch (MalformedDataException ex) {
			// It has an exit code of its own.
			throw ex;
		}
		catch (IllegalArgumentException ex) {
			throw new ParameterException(commandLine, ex.getMessage(), ex);
		}
	}

	private static boolean isRootOption(String option) {
		return switch (option) {
			case "-h", "--help", "-V", "--version" -> true;
			default -> false;
		};
	}

	/** The Spring application to run a rank in. */
	Class<?> application() {
		return this.application;
	}

	@Override
	public void run() {
		throw new ParameterException(this.spec.commandLine(), "a command is missing");
	}

	/** Provides the version from the jar's manifest. */
	static final class VersionProvider implements IVersionProvider {

		@Override
		public String[] getVersion() {
			String version = TuttiCommand.class.getPackage().getImplementationVersion();
			return new String[] { "Tutti " + ((version != null) ? version : "(not from a jar)"),
					"Java " + Runtime.version() };
		}

	}

}
