package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.LongFunction;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * Calls whose parts lie in place, on any backend: even ranks use one buffer, odd ranks
 * two where the layout allows that. Every rank runs them.
 */
public final class InPlaceLayouts {

	private static final DataType TYPE = DataType.INT32;

	private static final long BYTES = Integer.BYTES;

	/** A prime number, so that values repeat at no boundary of parts. */
	private static final int PERIOD = 991;

	private final ProcessGroup group;

	private final int rank;

	private final int size;

	private final LongFunction<MemorySegment> memory;

	/** By rank. */
	private final Repetition[] values;

	/** Of the first rank, the first two and so on. */
	private final Repetition[] sums;

	private InPlaceLayouts(ProcessGroup group, LongFunction<MemorySegment> memory) {
		this.group = group;
		this.rank = group.rank();
		this.size = group.worldSize();
		this.memory = memory;
		this.values = new Repetition[this.size];
		this.sums = new Repetition[this.size];
		for (int i = 0; i < this.size; i++) {
			int rank = i;
			this.values[i] = new Repetition(TYPE, PERIOD, (index) -> value(rank, index));
			this.sums[i] = new Repetition(TYPE, PERIOD, (index) -> sum(rank + 1, index));
		}
	}

	/**
	 * Runs every layout on native and on heap memory.
	 * @throws AssertionError if a result is wrong
	 */
	public static void check(ProcessGroup group) {
		try (Arena arena = Arena.ofShared()) {
			for (int count : new int[] { 0, 1, 5, 3000, 70_000 }) {
				new InPlaceLayouts(group, (bytes) -> arena.allocate(bytes, 64)).all(count);
				new InPlaceLayouts(group, (bytes) -> MemorySegment.ofArray(new int[(int) (bytes / BYTES)])).all(count);
			}
		}
	}

	private void all(int count) {
		long[] even = new long[this.size];
		Arrays.fill(even, count);
		parts(even, false);
		long[] uneven = new long[this.size];
		Arrays.setAll(uneven, (part) -> (part == 1) ? 0 : count + part);
		parts(uneven, true);
		wholes(count);
	}

	private void parts(long[] counts, boolean byCounts) {
		long total = Arrays.stream(counts).sum();
		long before = Arrays.stream(counts).limit(this.rank).sum();
		long own = counts[this.rank];
		boolean inPlace = this.rank % 2 == 0;

		MemorySegment whole = unset(total);
		MemorySegment part = inPlace ? slice(whole, before, own) : unset(own);
		values(this.rank).fill(part, before);
		if (byCounts) {
			this.group.allGather(part.asReadOnly(), whole, counts, TYPE);
		}
		else {
			this.group.allGather(part, whole, TYPE);
		}
		expectParts("all-gather", counts, byCounts, whole);

		whole = unset(total);
		values(this.rank).fill(whole, 0);
		part = inPlace ? slice(whole, before, own) : unset(own);
		if (byCounts) {
			this.group.reduceScatter(whole, part, counts, TYPE, ReduceOp.SUM);
		}
		else {
			this.group.reduceScatter(whole, part, TYPE, ReduceOp.SUM);
		}
		expect("reduce-scatter", counts, byCounts, part, sums(this.size), before);
		for (int root = 0; root < Math.min(2, this.size); root++) {
			rooted(counts, byCounts, root, before, own);
		}
	}

	private void rooted(long[] counts, boolean byCounts, int root, long before, long own) {
		long total = Arrays.stream(counts).sum();
		boolean isRoot = this.rank == root;
		MemorySegment whole = isRoot ? unset(total) : MemorySegment.NULL;
		MemorySegment part = isRoot ? slice(whole, before, own) : unset(own);
		values(this.rank).fill(part, before);
		if (byCounts) {
			this.group.gather(part.asReadOnly(), whole, counts, TYPE, root);
		}
		else {
			this.group.gather(part, whole, TYPE, root);
		}
		if (isRoot) {
			expectParts("gather", counts, byCounts, whole);
		}
		MemorySegment all = isRoot ? unset(total) : MemorySegment.NULL;
		if (isRoot) {
			values(root).fill(all, 0);
		}
		MemorySegment mine = isRoot ? slice(all, before, own) : unset(own);
		if (byCounts) {
			this.group.scatter(all, mine, counts, TYPE, root);
		}
		else {
			this.group.scatter(all, mine, TYPE, root);
		}
		expect("scatter", counts, byCounts, mine, values(root), before);
		if (isRoot) {
			expect("scatter leaves the root's parts", counts, byCounts, all, values(root), 0);
		}
	}

	private void wholes(int count) {
		long[] counts = { count };
		boolean inPlace = this.rank % 2 == 0;
		MemorySegment send = ownValues(count);
		MemorySegment receive = inPlace ? send : unset(count);
		this.group.allReduce(send, receive, TYPE, ReduceOp.SUM);
		expect("all-reduce", counts, false, receive, sums(this.size), 0);
		if (!inPlace) {
			expect("all-reduce leaves its operand", counts, false, send, values(this.rank), 0);
		}
		int root = this.size - 1;
		MemorySegment reduced = ownValues(count);
		this.group.reduce(reduced, (this.rank == root) ? reduced : MemorySegment.NULL, TYPE, ReduceOp.SUM, root);
		expect("reduce", counts, false, reduced, (this.rank == root) ? sums(this.size) : values(this.rank), 0);
		MemorySegment prefix = ownValues(count);
		MemorySegment inclusive = inPlace ? prefix : unset(count);
		this.group.scan(prefix, inclusive, TYPE, ReduceOp.SUM);
		expect("scan", counts, false, inclusive, sums(this.rank + 1), 0);
		MemorySegment before = ownValues(count);
		this.group.exclusiveScan(before, before, TYPE, ReduceOp.SUM);
		expect("exclusive scan", counts, false, before, (this.rank == 0) ? values(0) : sums(this.rank), 0);
	}

	private Repetition values(int rank) {
		return this.values[rank];
	}

	/** The sums of the first ranks' values. */
	private Repetition sums(int ranks) {
		return this.sums[ranks - 1];
	}

	private static long value(int rank, int index) {
		return 1000L * (rank + 1) + index;
	}

	private static long sum(int ranks, int index) {
		long sum = 0;
		for (int i = 0; i < ranks; i++) {
			sum += value(i, index);
		}
		return sum;
	}

	/** A buffer with this rank's values. */
	private MemorySegment ownValues(long count) {
		MemorySegment segment = unset(count);
		values(this.rank).fill(segment, 0);
		return segment;
	}

	/** A buffer that holds no rank's value. */
	private MemorySegment unset(long count) {
		MemorySegment segment = this.memory.apply(count * BYTES);
		segment.fill((byte) -1);
		return segment;
	}

	private static MemorySegment slice(MemorySegment whole, long first, long count) {
		return whole.asSlice(first * BYTES, count * BYTES);
	}

	/** Each rank's values at its part. */
	private void expectParts(String what, long[] counts, boolean byCounts, MemorySegment actual) {
		long before = 0;
		for (int owner = 0; owner < this.size; owner++) {
			expect(what, counts, byCounts, slice(actual, before, counts[owner]), values(owner), before);
			before += counts[owner];
		}
	}

	private void expect(String what, long[] counts, boolean byCounts, MemorySegment actual, Repetition expected,
			long first) {
		long found = expected.mismatch(actual, first);
		if (found >= 0) {
			throw new AssertionError(
					"%s in place of %s elements%s on rank %d of %d (%s memory): element %d is %d, not %d".formatted(
							what, Arrays.toString(counts), byCounts ? " by counts" : "", this.rank, this.size,
							actual.isNative() ? "native" : "heap", first + found,
							actual.getAtIndex(ValueLayout.JAVA_INT, found), expected.get(first + found)));
		}
	}

}
