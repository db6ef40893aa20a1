package io.tutti.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;
import java.util.Optional;

import io.tutti.engine.spi.CLibrary;

/**
 * Binds the measuring thread to one core, as MPI launchers bind their ranks. Two ranks on
 * the same core take turns, which adds microseconds to a call that takes a tenth of one.
 * Only that thread is bound, so that the JIT compiler and the garbage collector can use
 * any core.
 */
public final class CoreBinding {

	/** No binding. */
	public static final CoreBinding NONE = new CoreBinding(-1);

	/** Size of glibc's {@code cpu_set_t}. */
	private static final int SET_BYTES = 128;

	private static final int THIS_THREAD = 0;

	private static final MemoryLayout WORD = ValueLayout.JAVA_LONG;

	private final int core;

	private CoreBinding(int core) {
		this.core = core;
	}

	/**
	 * Selects a separate core, as the system counts them, for each rank of a host from
	 * the cores allowed for this process. Two of them may be threads of one physical
	 * core. Returns {@link #NONE} if there are fewer allowed cores than ranks, for
	 * example because a launcher has bound the process, or if the cores cannot be
	 * queried.
	 */
	public static CoreBinding of(int localRank, int localWorldSize) {
		return allowed().filter((cores) -> cores.cardinality() >= localWorldSize)
			.map((cores) -> new CoreBinding(cores.stream().skip(localRank).findFirst().orElseThrow()))
			.orElse(NONE);
	}

	/** Runs an action on the calling thread while it is bound. */
	void during(Runnable action) {
		Optional<BitSet> before = (this.core >= 0) ? allowed() : Optional.empty();
		if (before.isEmpty()) {
			action.run();
			return;
		}
		BitSet one = new BitSet();
		one.set(this.core);
		call("sched_setaffinity", one);
		try {
			action.run();
		}
		finally {
			call("sched_setaffinity", before.get());
		}
	}

	/** The cores that this thread may run on, if known. */
	public static Optional<BitSet> allowed() {
		return call("sched_getaffinity", new BitSet());
	}

	private static Optional<BitSet> call(String function, BitSet cores) {
		MethodHandle handle = CLibrary.find(function, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
				ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
		if (handle == null) {
			return Optional.empty();
		}
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment set = arena.allocate(SET_BYTES, WORD.byteAlignment());
			set.copyFrom(MemorySegment.ofArray(cores.toLongArray()));
			int result = (int) handle.invokeExact(THIS_THREAD, (long) SET_BYTES, set);
			return (result == 0) ? Optional.of(BitSet.valueOf(set.toArray(ValueLayout.JAVA_LONG))) : Optional.empty();
		}
		catch (Throwable ex) {
			throw new IllegalStateException("cannot read the CPU affinity of the thread", ex);
		}
	}

	/** Such as {@code core 1} or {@code none}. */
	@Override
	public String toString() {
		return (this.core < 0) ? "none" : "core " + this.core;
	}

}
