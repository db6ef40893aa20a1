package io.tutti.training.internal;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

import org.bytedeco.javacpp.Loader;
import org.bytedeco.pytorch.global.torch;

/**
 * Ends the process without the finalizers of native libraries. At an exit the JVM does
 * not wait for native code: the finalizers of libtorch and OpenBLAS would free memory in
 * which a thread may still compute, which crashes the JVM and replaces its exit code.
 */
public final class ProcessEnd {

	private static boolean registered;

	private ProcessEnd() {
	}

	/**
	 * From now on the process ends with the given exit code as soon as the JVM has run
	 * its shutdown hooks and the C streams are flushed, also if a thread computes. Loads
	 * libtorch first, since handlers run before the finalizers of the libraries that were
	 * loaded before. Without effect on a C library without {@code on_exit}. Idempotent.
	 */
	public static synchronized void skipFinalizers() {
		if (!registered) {
			Loader.load(torch.class);
			// The handler that was registered last runs first.
			register("_exit");
			register("fcloseall");
			registered = true;
		}
	}

	/** Registers a function of the C library, which gets the exit code. */
	@SuppressWarnings("restricted") // functions of the C library with these parameters
	private static void register(String function) {
		Linker linker = Linker.nativeLinker();
		SymbolLookup library = linker.defaultLookup();
		Optional<MemorySegment> onExit = library.find("on_exit");
		Optional<MemorySegment> handler = library.find(function);
		if (onExit.isEmpty() || handler.isEmpty()) {
			return;
		}
		MethodHandle call = linker.downcallHandle(onExit.get(),
				FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
		try {
			int _ = (int) call.invokeExact(handler.get(), MemorySegment.NULL);
		}
		catch (Throwable ex) {
			throw new IllegalStateException("on_exit failed", ex);
		}
	}

}
