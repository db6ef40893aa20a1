package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

import io.tutti.engine.spi.CLibrary;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Reads the memory of another process of this host with one copy
 * ({@code process_vm_readv}). The kernel permits it between processes of one user that
 * see each other's process number, unless a security module restricts it; whether it does
 * is found out by trying. Never writes. For one thread at a time.
 */
final class CrossMemoryAttach {

	/** Address and length of the bytes and of the number, here and in the process. */
	private static final int VECTOR_WORDS = 8;

	private static final int REMOTE_OFFSET = 4 * Long.BYTES;

	private static final int PR_SET_PTRACER = 0x59616d61;

	private static final @Nullable MethodHandle READ = CLibrary.find("process_vm_readv",
			FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
					ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));

	private static final @Nullable MethodHandle CONTROL = CLibrary.find("prctl",
			FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
			Linker.Option.firstVariadicArg(1));

	/** Address of the vectors. */
	private final long vectors;

	/** Address of the number that was read. */
	private final long number;

	private CrossMemoryAttach(Arena arena) {
		this.vectors = arena.allocate(ValueLayout.JAVA_LONG, VECTOR_WORDS).address();
		this.number = arena.allocate(ValueLayout.JAVA_LONG).address();
	}

	/**
	 * The system call; {@code null} where this platform lacks it.
	 * @param arena owns the memory of its arguments
	 */
	static @Nullable CrossMemoryAttach find(Arena arena) {
		return (READ != null) ? new CrossMemoryAttach(arena) : null;
	}

	/**
	 * Permits one other process to read this one, where the kernel would restrict it to
	 * descendants. Each call replaces the permission of the call before.
	 * @param pid number of that process, 0 for none
	 */
	static void permit(long pid) {
		MethodHandle control = CONTROL;
		if (control != null) {
			try {
				// Fails where nothing restricts the other process.
				int ignored = (int) control.invokeExact(PR_SET_PTRACER, pid);
			}
			catch (Throwable ex) {
				throw CleanUp.unchecked(ex);
			}
		}
	}

	/**
	 * Copies bytes of a process, then checks the process's number.
	 * @param remote address in that process
	 * @param local address in this process
	 * @throws IOException if the process has ended, may not be read, or has no such
	 * memory
	 */
	void copy(ReadableProcess process, long remote, long local, long bytes) throws IOException {
		long copied = 0;
		while (copied < bytes + Long.BYTES) {
			long done = Math.min(copied, bytes);
			set(0, local + done, remote + done, bytes - done);
			set(1, this.number, process.address(), Long.BYTES);
			long got = call(process.pid());
			if (got <= 0) {
				throw new IOException("reading " + bytes + " bytes of process " + process.pid() + " failed");
			}
			copied = done + got;
		}
		if (NativeMemory.getLong(this.number) != process.number()) {
			throw new IOException("process " + process.pid() + " has ended, and another one has its number");
		}
	}

	private void set(int index, long local, long remote, long bytes) {
		long vector = this.vectors + 2L * Long.BYTES * index;
		NativeMemory.putLong(vector, local);
		NativeMemory.putLong(vector + Long.BYTES, bytes);
		NativeMemory.putLong(vector + REMOTE_OFFSET, remote);
		NativeMemory.putLong(vector + REMOTE_OFFSET + Long.BYTES, bytes);
	}

	private long call(long pid) {
		try {
			return (long) Objects.requireNonNull(READ)
				.invokeExact((int) pid, this.vectors, 2L, this.vectors + REMOTE_OFFSET, 2L, 0L);
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

}
