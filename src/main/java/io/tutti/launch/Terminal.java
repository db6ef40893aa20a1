package io.tutti.launch;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Map;

import io.tutti.engine.spi.CLibrary;

/**
 * Tests whether a stream of this process is a terminal. The JDK's console only reports
 * input and output together.
 */
public final class Terminal {

	private static final int STANDARD_ERROR = 2;

	private Terminal() {
	}

	/**
	 * Whether to show lines that are redrawn in place, such as a progress bar, on
	 * standard error: it is a terminal, or a pipe to Tutti's own launcher on a terminal.
	 * @param environment this process's environment variables
	 */
	public static boolean showsLiveLines(Map<String, String> environment) {
		return environment.containsKey(RankEnvironment.LIVE_LINES) || is(STANDARD_ERROR);
	}

	/**
	 * Whether a file descriptor is a terminal.
	 * @param descriptor 1 for standard output, 2 for standard error
	 */
	static boolean is(int descriptor) {
		MethodHandle isatty = CLibrary.find("isatty",
				FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
		try {
			return isatty != null && (int) isatty.invokeExact(descriptor) == 1;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("isatty(" + descriptor + ") failed", ex);
		}
	}

}
