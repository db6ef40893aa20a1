package io.tutti.service.command;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;

import io.tutti.ExitCode;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;
import io.tutti.service.backend.BackendProfile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code env}: prints this process's rank, the variables that determine it and the
 * variables that are ignored. The output is a single write, since launchers interleave
 * partial lines. The command starts no Spring and loads no JSON library, so that it takes
 * a fraction of a second.
 */
@Command(name = "env", description = "Explains the resolved rank of this process.", mixinStandardHelpOptions = true,
		exitCodeOnInvalidInput = ExitCode.BAD_CONFIGURATION, footerHeading = "%nExamples:%n",
		footer = { "  ./tutti env                        this process, as text",
				"  ./tutti env --json                 the same as one line of JSON",
				"  ./tutti launch -n 4 env            explains each of four ranks",
				"  mpirun -np 4 ./tutti env --json    under another launcher",
				"  RANK=1 WORLD_SIZE=2 ./tutti env    the effect of these variables" })
public final class EnvCommand implements Callable<Integer> {

	private final Map<String, String> environment;

	private final Function<List<String>, Function<String, @Nullable String>> properties;

	@Spec
	private @Nullable CommandSpec spec;

	@Option(names = "--json", description = "One line of JSON.")
	private boolean json;

	@Unmatched
	private List<String> rest = new ArrayList<>();

	/** Describes this process from its own environment. */
	public EnvCommand() {
		this(System.getenv(), (arguments) -> ConfiguredProperties.read(arguments,
				(warning) -> write(System.err, "tutti env: " + warning + "\n")));
	}

	EnvCommand(Map<String, String> environment, Function<List<String>, Function<String, @Nullable String>> properties) {
		this.environment = environment;
		this.properties = properties;
	}

	@Override
	public Integer call() {
		List<String> arguments = PropertyArguments.of(this.spec.commandLine(), this.rest);
		try {
			Function<String, @Nullable String> configured = this.properties.apply(arguments);
			requireBackend(configured.apply(BackendProfile.PROPERTY));
			ResolutionSettings settings = ResolutionSettings.from(configured);
			RankDescription report = RankDescription.of(RankResolution.resolve(this.environment, settings));
			write(System.out, this.json ? report.json() + "\n" : report.text());
			return ExitCode.DONE;
		}
		catch (ResolutionException | IllegalArgumentException ex) {
			write(System.err, "tutti env: " + ex.getMessage() + "\n");
			return ExitCode.BAD_CONFIGURATION;
		}
	}

	/** A rank would not start with the name of no backend. */
	private static void requireBackend(@Nullable String name) {
		if (name != null) {
			BackendProfile.requireKnown(name);
		}
	}

	private static void write(PrintStream stream, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		stream.write(bytes, 0, bytes.length);
		stream.flush();
	}

}
