package io.tutti.launch;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.Charset;

/**
 * Tests whether a write failed because the reader has closed the pipe. The JDK's
 * exceptions have no error number, only the C library's text for it, which is in the
 * user's language.
 */
final class BrokenPipe {

	/** On Linux and macOS. */
	private static final int EPIPE = 32;

	private static final Charset NATIVE = Charset.forName(System.getProperty("native.encoding"));

	private BrokenPipe() {
	}

	/** Whether this is the reason of a failed write. */
	static boolean is(IOException failure) {
		return text().equals(failure.getMessage());
	}

	/** The C library's text. */
	@SuppressWarnings("restricted")
	static String text() {
		Linker linker = Linker.nativeLinker();
		MethodHandle strerror = linker.downcallHandle(linker.defaultLookup().findOrThrow("strerror"),
				FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
		try {
			return ((MemorySegment) strerror.invokeExact(EPIPE)).reinterpret(Long.MAX_VALUE).getString(0, NATIVE);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("strerror(" + EPIPE + ") failed", ex);
		}
	}

}
