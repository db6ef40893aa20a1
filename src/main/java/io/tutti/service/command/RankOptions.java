package io.tutti.service.command;

import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * Options that every command understands which is one rank.
 */
final class RankOptions {

	@Option(names = "--http-port", paramLabel = "PORT",
			description = "Port for HTTP, to which the local rank is added; 0 lets the kernel pick.")
	private @Nullable Integer httpPort;

	@Option(names = "--debug", description = "Show where a failure came from.")
	private boolean debug;

	/** Whether to show stack traces. */
	boolean debug() {
		return this.debug;
	}

	/**
	 * What Spring is given: {@code --some.property=value} as it stands, and options that
	 * are properties by another name.
	 * @param rest arguments that the command itself does not know
	 * @throws CommandLine.UnmatchedArgumentException if one of them is no property
	 */
	List<String> properties(CommandLine commandLine, List<String> rest) {
		List<String> properties = PropertyArguments.of(commandLine, rest);
		if (this.httpPort != null) {
			properties.add("--tutti.http.port=" + this.httpPort);
		}
		return properties;
	}

}
