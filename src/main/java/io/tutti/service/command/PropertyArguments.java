package io.tutti.service.command;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

import picocli.CommandLine;

/**
 * Properties on the command line, as {@code --some.property=value}.
 */
final class PropertyArguments {

	/** A property has a dot in its name; an option has none. */
	private static final Pattern PROPERTY = Pattern.compile("--[a-zA-Z][\\w-]*(\\.[\\w\\[\\]-]+)+=.*", Pattern.DOTALL);

	private PropertyArguments() {
	}

	/**
	 * The properties among what a command itself did not understand, which is all of it.
	 * @return a list that can be added to
	 * @throws CommandLine.UnmatchedArgumentException naming what is no property
	 */
	static List<String> of(CommandLine commandLine, List<String> rest) {
		List<String> unknown = rest.stream().filter((argument) -> !PROPERTY.matcher(argument).matches()).toList();
		if (!unknown.isEmpty()) {
			throw new CommandLine.UnmatchedArgumentException(commandLine, unknown);
		}
		return new ArrayList<>(rest);
	}

}
