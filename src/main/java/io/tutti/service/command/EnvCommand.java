package io.tutti.service.command;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code env}: explains which rank this process is, from which variables, and what was
 * ignored. The output is one write, since launchers interleave what comes in pieces.
 */
@Command(name = "env", description = "Explains which rank this process is, and why.", mixinStandardHelpOptions = true,
		exitCodeOnInvalidInput = EnvCommand.BAD_CONFIGURATION, footerHeading = "%nExamples:%n",
		footer = { "  ./tutti env                        who am I, as text",
				"  ./tutti env --json                 the same as one line of JSON",
				"  ./tutti launch -n 4 env            each of four ranks says it",
				"  mpirun -np 4 ./tutti env --json    under another launcher",
				"  RANK=1 WORLD_SIZE=2 ./tutti env    what these variables mean" })
public final class EnvCommand implements Callable<Integer> {

	static final int BAD_CONFIGURATION = 64;

	private final Map<String, String> environment;

	private final Supplier<Function<String, @Nullable String>> properties;

	@Option(names = "--json", description = "One line of JSON.")
	private boolean json;

	/** Explains this process. */
	public EnvCommand() {
		this(System.getenv(), () -> ConfiguredProperties.read()::getProperty);
	}

	EnvCommand(Map<String, String> environment, Supplier<Function<String, @Nullable String>> properties) {
		this.environment = environment;
		this.properties = properties;
	}

	@Override
	public Integer call() {
		try {
			ResolutionSettings settings = ResolutionSettings.from(this.properties.get());
			RankReport report = RankReport.of(RankResolution.resolve(this.environment, settings));
			write(System.out, this.json ? JsonMapper.shared().writeValueAsString(report) + "\n" : report.text());
			return ExitCode.OK;
		}
		catch (ResolutionException ex) {
			write(System.err, "tutti env: " + ex.getMessage() + "\n");
			return BAD_CONFIGURATION;
		}
	}

	private static void write(PrintStream stream, String text) {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		stream.write(bytes, 0, bytes.length);
		stream.flush();
	}

}
