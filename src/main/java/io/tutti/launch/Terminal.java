package io.tutti.launch;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

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
	@SuppressWarnings("restricted")
	static boolean is(int descriptor) {
		Linker linker = Linker.nativeLinker();
		return linker.defaultLookup().find("isatty").map((symbol) -> {
			MethodHandle isatty = linker.downcallHandle(symbol,
					FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
			return call(isatty, descriptor);
		}).orElse(false);
	}

	private static boolean call(MethodHandle isatty, int descriptor) {
		try {
			return (int) isatty.invokeExact(descriptor) == 1;
		}
		catch (Throwable ex) {
			throw new IllegalStateException("isatty(" + descriptor + ") failed", ex);
		}
	}

}
