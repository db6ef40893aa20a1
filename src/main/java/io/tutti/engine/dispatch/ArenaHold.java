package io.tutti.engine.dispatch;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the arenas of a call's buffers open while the call runs. Closing one during the
 * call throws an {@link IllegalStateException} instead of freeing memory that the call
 * writes by address.
 * <p>
 * The JDK keeps an arena open during a native call that has a segment of it among its
 * arguments, and offers no other way. So the call runs inside a native call to an upcall
 * stub. That costs about a microsecond.
 */
final class ArenaHold {

	private static final ScopedValue<ArenaHold> CURRENT = ScopedValue.newInstance();

	private static final FunctionDescriptor TWO_SEGMENTS = FunctionDescriptor.ofVoid(ValueLayout.ADDRESS,
			ValueLayout.ADDRESS);

	private static final MethodHandle NATIVE_CALL = nativeCall();

	private final Runnable task;

	private @Nullable Throwable failure;

	private ArenaHold(Runnable task) {
		this.task = task;
	}

	@SuppressWarnings("restricted")
	private static MethodHandle nativeCall() {
		try {
			Linker linker = Linker.nativeLinker();
			MethodHandle callBack = MethodHandles.lookup()
				.findStatic(ArenaHold.class, "callBack",
						MethodType.methodType(void.class, MemorySegment.class, MemorySegment.class));
			return linker.downcallHandle(linker.upcallStub(callBack, TWO_SEGMENTS, Arena.global()), TWO_SEGMENTS);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/**
	 * Runs a task while the arenas of two segments cannot be closed. If one is closed
	 * already, the task still runs: it checks its buffers.
	 */
	static void run(MemorySegment send, MemorySegment receive, Runnable task) {
		ArenaHold hold = new ArenaHold(task);
		ScopedValue.where(CURRENT, hold).run(() -> hold.runInNativeCall(send, receive));
		Throwable failure = hold.failure;
		if (failure != null) {
			throw CleanUp.unchecked(failure);
		}
	}

	private void runInNativeCall(MemorySegment send, MemorySegment receive) {
		try {
			NATIVE_CALL.invokeExact(nativeOrNull(send), nativeOrNull(receive));
		}
		catch (Throwable ex) {
			runTask();
		}
	}

	/** Heap memory is never closed. */
	private static MemorySegment nativeOrNull(MemorySegment segment) {
		return segment.isNative() ? segment : MemorySegment.NULL;
	}

	/** The target of the upcall stub. */
	private static void callBack(MemorySegment send, MemorySegment receive) {
		CURRENT.get().runTask();
	}

	/** Catches everything: no exception may propagate into native code. */
	private void runTask() {
		try {
			this.task.run();
		}
		catch (Throwable ex) {
			this.failure = ex;
		}
	}

}
