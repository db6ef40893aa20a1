package io.tutti.service.command;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import picocli.CommandLine;

/**
 * Properties on the command line, as {@code --some.property=value}.
 */
final class PropertyArguments {

	/** A property name contains a dot, an option name does not. */
	private static final Pattern PROPERTY = Pattern.compile("--[a-zA-Z][\\w-]*(\\.[\\w\\[\\]-]+)+=.*", Pattern.DOTALL);

	private PropertyArguments() {
	}

	/**
	 * Requires that all arguments a command does not recognize are properties, and
	 * returns them.
	 * @return a mutable list
	 * @throws CommandLine.UnmatchedArgumentException naming the arguments that are not
	 * properties
	 */
	static List<String> of(CommandLine commandLine, List<String> rest) {
		List<String> unknown = rest.stream().filter((argument) -> !PROPERTY.matcher(argument).matches()).toList();
		if (!unknown.isEmpty()) {
			throw new CommandLine.UnmatchedArgumentException(commandLine, unknown);
		}
		return new ArrayList<>(rest);
	}

}
