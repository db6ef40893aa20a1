package io.tutti.launch;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.tutti.engine.spi.CLibrary;

/**
 * Tests whether a stream of this process is a terminal. The JDK's console only reports
 * input and output together.
 */
final class Terminal {

	private Terminal() {
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
