package io.tutti.engine.spi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

import org.jspecify.annotations.Nullable;

/**
 * Functions of the C library.
 */
public final class CLibrary {

	private CLibrary() {
	}

	/**
	 * A function.
	 * @param shape its parameters and result
	 * @return {@code null} if this platform lacks it, or permits no native access
	 */
	@SuppressWarnings("restricted")
	public static @Nullable MethodHandle find(String function, FunctionDescriptor shape, Linker.Option... options) {
		try {
			Linker linker = Linker.nativeLinker();
			return linker.defaultLookup()
				.find(function)
				.map((address) -> linker.downcallHandle(address, shape, options))
				.orElse(null);
		}
		catch (IllegalCallerException | UnsupportedOperationException ex) {
			return null;
		}
	}

}
