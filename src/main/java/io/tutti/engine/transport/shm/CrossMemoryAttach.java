package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

import io.tutti.engine.spi.CLibrary;
import io.tutti.engine.spi.CleanUp;
import org.jspecify.annotations.Nullable;

/**
 * Reads the memory of another process of this host with one copy
 * ({@code process_vm_readv}). The kernel permits it between processes of one user that
 * see each other's process number, unless a security module restricts it; whether it does
 * is found out by trying. Never writes. For one thread at a time.
 */
final class CrossMemoryAttach {

	/** Address and length of the local and of the remote memory. */
	private static final int VECTOR_WORDS = 4;

	private static final int PR_SET_PTRACER = 0x59616d61;

	private static final @Nullable MethodHandle READ = CLibrary.find("process_vm_readv",
			FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
					ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG),
			Linker.Option.captureCallState("errno"));

	private static final @Nullable MethodHandle CONTROL = CLibrary.find("prctl",
			FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
			Linker.Option.firstVariadicArg(1));

	private static final VarHandle ERRNO = Linker.Option.captureStateLayout()
		.varHandle(MemoryLayout.PathElement.groupElement("errno"));

	private final MethodHandle read;

	private final MemorySegment vectors;

	private final MemorySegment state;

	private CrossMemoryAttach(MethodHandle read, Arena arena) {
		this.read = read;
		this.vectors = arena.allocate(ValueLayout.JAVA_LONG, VECTOR_WORDS);
		this.state = arena.allocate(Linker.Option.captureStateLayout());
	}

	/**
	 * The system call; {@code null} where this platform lacks it.
	 * @param arena owns the memory of its arguments
	 */
	static @Nullable CrossMemoryAttach find(Arena arena) {
		MethodHandle read = READ;
		return (read != null) ? new CrossMemoryAttach(read, arena) : null;
	}

	/**
	 * Permits one other process to read this one, where the kernel would restrict it to
	 * descendants. Each call replaces the permission of the call before.
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
	 * Copies bytes of a process.
	 * @param remote address in that process
	 * @param local address in this process
	 * @throws IOException if the process has ended, may not be read, or has no such
	 * memory
	 */
	void copy(long pid, long remote, long local, long bytes) throws IOException {
		long copied = 0;
		while (copied < bytes) {
			set(local + copied, remote + copied, bytes - copied);
			long got = call(pid);
			if (got <= 0) {
				throw new IOException("reading " + bytes + " bytes of process " + pid + " failed (errno "
						+ (int) ERRNO.get(this.state, 0L) + ")");
			}
			copied += got;
		}
	}

	private void set(long local, long remote, long bytes) {
		this.vectors.setAtIndex(ValueLayout.JAVA_LONG, 0, local);
		this.vectors.setAtIndex(ValueLayout.JAVA_LONG, 1, bytes);
		this.vectors.setAtIndex(ValueLayout.JAVA_LONG, 2, remote);
		this.vectors.setAtIndex(ValueLayout.JAVA_LONG, 3, bytes);
	}

	private long call(long pid) {
		long vector = this.vectors.address();
		try {
			return (long) this.read.invokeExact(this.state, (int) pid, vector, 1L, vector + 2 * Long.BYTES, 1L, 0L);
		}
		catch (Throwable ex) {
			throw CleanUp.unchecked(ex);
		}
	}

}
