package io.tutti;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands that start a JVM for seconds: its compiler and its collector are those that
 * take the least processor time until it ends.
 */
public final class TestJvm {

	private static final List<String> OPTIONS = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
			"--enable-native-access=ALL-UNNAMED");

	private TestJvm() {
	}

	/** The JVM with further options, or with what it runs. */
	public static List<String> command(String... further) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(OPTIONS);
		command.addAll(List.of(further));
		return command;
	}

	/** A main class of the tests with its arguments. */
	public static List<String> command(Class<?> main, Object... arguments) {
		return command(List.of(), main, arguments);
	}

	/** A main class of the tests with its arguments, and options of the JVM. */
	public static List<String> command(List<String> options, Class<?> main, Object... arguments) {
		List<String> command = command(options.toArray(String[]::new));
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
		for (Object argument : arguments) {
			command.add(argument.toString());
		}
		return command;
	}

}
