package io.tutti.training;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** The native memory of this process, that of libtorch and of Java's arenas included. */
public final class AllocatedMemory {

	private AllocatedMemory() {
	}

	/** Bytes that {@code malloc} has given out; empty without glibc 2.33 or later. */
	@SuppressWarnings("restricted") // mallinfo2 returns ten numbers and has no arguments
	public static Optional<Long> bytes() {
		Linker linker = Linker.nativeLinker();
		MemoryLayout numbers = MemoryLayout.structLayout(MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG));
		return linker.defaultLookup().find("mallinfo2").map((function) -> {
			MethodHandle call = linker.downcallHandle(function, FunctionDescriptor.of(numbers));
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment info = (MemorySegment) call.invoke(arena);
				long mapped = info.getAtIndex(ValueLayout.JAVA_LONG, 4);
				long inUse = info.getAtIndex(ValueLayout.JAVA_LONG, 7);
				return mapped + inUse;
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

}
