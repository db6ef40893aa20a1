package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.tutti.engine.spi.CLibrary;
import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * The {@code futex} system call: sleeps until another process signals that a word in
 * shared memory has changed.
 */
final class Futex {

	private static final int WAIT = 0;

	private static final int WAKE = 1;

	private static final long NANOS_PER_SECOND = 1_000_000_000;

	private final MethodHandle systemCall;

	private final long number;

	/** The timeout: seconds, nanoseconds. */
	private final MemorySegment time;

	private Futex(MethodHandle systemCall, long number, MemorySegment time) {
		this.systemCall = systemCall;
		this.number = number;
		this.time = time;
	}

	/**
	 * The futex of this platform, for one waiting thread and any number of waking
	 * threads; {@code null} if it is not available.
	 */
	static @Nullable Futex find(Arena arena) {
		long number = switch (System.getProperty("os.arch")) {
			case "amd64", "x86_64" -> 202;
			case "aarch64", "riscv64" -> 98;
			default -> -1;
		};
		if (number < 0 || !"Linux".equals(System.getProperty("os.name"))) {
			return null;
		}
		MethodHandle systemCall = CLibrary.find("syscall",
				FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
						ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
				Linker.Option.firstVariadicArg(1));
		return (systemCall != null) ? new Futex(systemCall, number, arena.allocate(ValueLayout.JAVA_LONG, 2)) : null;
	}

	/** Sleeps unless the word at the address has a different value. */
	void await(long address, int value, long maxNanos) {
		this.time.setAtIndex(ValueLayout.JAVA_LONG, 0, maxNanos / NANOS_PER_SECOND);
		this.time.setAtIndex(ValueLayout.JAVA_LONG, 1, maxNanos % NANOS_PER_SECOND);
		call(address, WAIT, value, this.time.address());
	}

	/** Wakes the threads that sleep on the word at the address. */
	void wake(long address) {
		call(address, WAKE, Integer.MAX_VALUE, 0);
	}

	/** The result does not matter: callers re-check their condition. */
	private void call(long address, int operation, int value, long time) {
		try {
			long ignored = (long) this.systemCall.invokeExact(this.number, address, operation, value, time);
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

}
