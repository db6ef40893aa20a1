package io.tutti.benchmark;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;
import java.util.Optional;

/**
 * Keeps the thread that measures on one core, as MPI launchers do with their ranks: two
 * ranks that the kernel has put on one core for a while take turns, which is some
 * microseconds for a call that takes a tenth of one. Only that thread is bound, so that
 * compiler and collector go where there is room.
 */
public final class CoreBinding {

	/** Does nothing. */
	public static final CoreBinding NONE = new CoreBinding(-1);

	/** As many cores as the kernel's own type for a set of them holds. */
	private static final int SET_BYTES = 128;

	private static final int THIS_THREAD = 0;

	private static final MemoryLayout WORD = ValueLayout.JAVA_LONG;

	private final int core;

	private CoreBinding(int core) {
		this.core = core;
	}

	/**
	 * A core for each rank of a host, of those that this process may run on;
	 * {@link #NONE} where there are fewer cores than ranks, or a launcher has bound the
	 * process already, or the kernel cannot be asked.
	 */
	public static CoreBinding of(int localRank, int localWorldSize) {
		return allowed().filter((cores) -> cores.cardinality() >= localWorldSize)
			.map((cores) -> new CoreBinding(cores.stream().skip(localRank).findFirst().orElseThrow()))
			.orElse(NONE);
	}

	/** Does something on this thread while it is bound. */
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

	/** The cores that this thread may run on, if the kernel says so. */
	static Optional<BitSet> allowed() {
		return call("sched_getaffinity", new BitSet());
	}

	@SuppressWarnings("restricted")
	private static Optional<BitSet> call(String function, BitSet cores) {
		Linker linker = Linker.nativeLinker();
		return linker.defaultLookup()
			.find(function)
			.map((symbol) -> linker.downcallHandle(symbol,
					FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG,
							ValueLayout.ADDRESS)))
			.flatMap((handle) -> call(handle, cores));
	}

	private static Optional<BitSet> call(MethodHandle handle, BitSet cores) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment set = arena.allocate(SET_BYTES, WORD.byteAlignment());
			set.copyFrom(MemorySegment.ofArray(cores.toLongArray()));
			int result = (int) handle.invokeExact(THIS_THREAD, (long) SET_BYTES, set);
			return (result == 0) ? Optional.of(BitSet.valueOf(set.toArray(ValueLayout.JAVA_LONG))) : Optional.empty();
		}
		catch (Throwable ex) {
			throw new IllegalStateException("the kernel's set of cores cannot be had", ex);
		}
	}

	/** Such as {@code core 1} or {@code none}. */
	@Override
	public String toString() {
		return (this.core < 0) ? "none" : "core " + this.core;
	}

}
