package io.tutti.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * One rank that runs the guide's programs, named on standard input, one after the other.
 * Starting a JVM per program would take most of the test's time.
 */
final class GuideRank {

	/** Ends the output of a program. */
	static final String END = "--- end of ";

	/** Continues after a lost rank; a plain group refuses the properties for that. */
	private static final String ELASTIC = "ContinueAfterLoss";

	private GuideRank() {
	}

	public static void main(String[] arguments) throws Throwable {
		BufferedReader names = new BufferedReader(new InputStreamReader(System.in));
		for (String name = names.readLine(); name != null; name = names.readLine()) {
			if (name.equals(ELASTIC)) {
				System.setProperty("tutti.elastic.min-ranks", "1");
				System.setProperty("tutti.elastic.endpoints", arguments[0]);
			}
			run(name);
			System.clearProperty("tutti.elastic.min-ranks");
			System.clearProperty("tutti.elastic.endpoints");
			System.out.println(END + name);
		}
	}

	private static void run(String name) throws Throwable {
		Constructor<?> constructor = Class.forName(name).getDeclaredConstructor();
		constructor.setAccessible(true);
		Method main = constructor.getDeclaringClass().getDeclaredMethod("main");
		main.setAccessible(true);
		try {
			main.invoke(constructor.newInstance());
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
	}

	/** A process that runs this class. */
	record Running(Process process, BufferedReader output) implements AutoCloseable {

		void start(String name) throws IOException {
			this.process.getOutputStream().write((name + "\n").getBytes());
			this.process.getOutputStream().flush();
		}

		/** What the program has printed when it or the process ends. */
		String finish(String name) throws IOException {
			StringBuilder printed = new StringBuilder();
			for (String line = this.output.readLine(); line != null
					&& !line.equals(END + name); line = this.output.readLine()) {
				printed.append(line).append('\n');
			}
			return printed.toString();
		}

		@Override
		public void close() {
			this.process.destroyForcibly();
		}

	}

}
