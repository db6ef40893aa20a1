package io.tutti.service.command;

import java.util.List;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * Options shared by all commands that run as one rank.
 */
final class RankOptions {

	@Option(names = "--http-port", paramLabel = "PORT",
			description = "HTTP port, to which the local rank is added; 0 for an ephemeral port.")
	private @Nullable Integer httpPort;

	@Option(names = "--debug", description = "Print the stack trace of a failure.")
	private boolean debug;

	/** Whether to print stack traces. */
	boolean debug() {
		return this.debug;
	}

	/**
	 * The arguments for Spring: properties given as {@code --some.property=value}, and
	 * options that stand for a property.
	 * @param rest arguments that the command does not recognize
	 * @throws CommandLine.UnmatchedArgumentException if one of them is not a property
	 */
	List<String> properties(CommandLine commandLine, List<String> rest) {
		List<String> properties = PropertyArguments.of(commandLine, rest);
		if (this.httpPort != null) {
			properties.add("--tutti.http.port=" + this.httpPort);
		}
		return properties;
	}

}
