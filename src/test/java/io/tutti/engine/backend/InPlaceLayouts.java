package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.function.LongFunction;
import java.util.function.LongUnaryOperator;

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

	private final ProcessGroup group;

	private final int rank;

	private final int size;

	private final LongFunction<MemorySegment> memory;

	private InPlaceLayouts(ProcessGroup group, LongFunction<MemorySegment> memory) {
		this.group = group;
		this.rank = group.rank();
		this.size = group.worldSize();
		this.memory = memory;
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

		MemorySegment whole = values(total, (i) -> (i >= before && i < before + own) ? value(this.rank, i) : -1);
		MemorySegment part = inPlace ? slice(whole, before, own) : values(own, (i) -> value(this.rank, before + i));
		if (byCounts) {
			this.group.allGather(part, whole, counts, TYPE);
		}
		else {
			this.group.allGather(part, whole, TYPE);
		}
		expect("all-gather", counts, byCounts, whole, (i) -> value(ownerOf(counts, i), i));

		whole = values(total, (i) -> value(this.rank, i));
		part = inPlace ? slice(whole, before, own) : values(own, (i) -> -1);
		if (byCounts) {
			this.group.reduceScatter(whole, part, counts, TYPE, ReduceOp.SUM);
		}
		else {
			this.group.reduceScatter(whole, part, TYPE, ReduceOp.SUM);
		}
		expect("reduce-scatter", counts, byCounts, part, (i) -> sum(this.size, before + i));
		for (int root = 0; root < Math.min(2, this.size); root++) {
			rooted(counts, byCounts, root, before, own);
		}
	}

	private void rooted(long[] counts, boolean byCounts, int root, long before, long own) {
		long total = Arrays.stream(counts).sum();
		boolean isRoot = this.rank == root;
		MemorySegment whole = isRoot
				? values(total, (i) -> (i >= before && i < before + own) ? value(this.rank, i) : -1)
				: MemorySegment.NULL;
		MemorySegment part = isRoot ? slice(whole, before, own) : values(own, (i) -> value(this.rank, before + i));
		if (byCounts) {
			this.group.gather(part, whole, counts, TYPE, root);
		}
		else {
			this.group.gather(part, whole, TYPE, root);
		}
		if (isRoot) {
			expect("gather", counts, byCounts, whole, (i) -> value(ownerOf(counts, i), i));
		}
		MemorySegment all = isRoot ? values(total, (i) -> value(root, i)) : MemorySegment.NULL;
		MemorySegment mine = isRoot ? slice(all, before, own) : values(own, (i) -> -1);
		if (byCounts) {
			this.group.scatter(all, mine, counts, TYPE, root);
		}
		else {
			this.group.scatter(all, mine, TYPE, root);
		}
		expect("scatter", counts, byCounts, mine, (i) -> value(root, before + i));
		if (isRoot) {
			expect("scatter leaves the root's parts", counts, byCounts, all, (i) -> value(root, i));
		}
	}

	private void wholes(int count) {
		long[] counts = { count };
		boolean inPlace = this.rank % 2 == 0;
		MemorySegment send = values(count, (i) -> value(this.rank, i));
		MemorySegment receive = inPlace ? send : values(count, (i) -> -1);
		this.group.allReduce(send, receive, TYPE, ReduceOp.SUM);
		expect("all-reduce", counts, false, receive, (i) -> sum(this.size, i));
		if (!inPlace) {
			expect("all-reduce leaves its operand", counts, false, send, (i) -> value(this.rank, i));
		}
		int root = this.size - 1;
		MemorySegment reduced = values(count, (i) -> value(this.rank, i));
		this.group.reduce(reduced, (this.rank == root) ? reduced : MemorySegment.NULL, TYPE, ReduceOp.SUM, root);
		expect("reduce", counts, false, reduced, (i) -> (this.rank == root) ? sum(this.size, i) : value(this.rank, i));
		MemorySegment prefix = values(count, (i) -> value(this.rank, i));
		MemorySegment inclusive = inPlace ? prefix : values(count, (i) -> -1);
		this.group.scan(prefix, inclusive, TYPE, ReduceOp.SUM);
		expect("scan", counts, false, inclusive, (i) -> sum(this.rank + 1, i));
		MemorySegment before = values(count, (i) -> value(this.rank, i));
		this.group.exclusiveScan(before, before, TYPE, ReduceOp.SUM);
		expect("exclusive scan", counts, false, before, (i) -> (this.rank == 0) ? value(0, i) : sum(this.rank, i));
	}

	private static long value(int rank, long index) {
		return 1000L * (rank + 1) + index % 991;
	}

	/** The sum of the first ranks' values. */
	private static long sum(int ranks, long index) {
		long sum = 0;
		for (int i = 0; i < ranks; i++) {
			sum += value(i, index);
		}
		return sum;
	}

	private static int ownerOf(long[] counts, long index) {
		int owner = 0;
		for (long end = counts[0]; index >= end; end += counts[owner]) {
			owner++;
		}
		return owner;
	}

	private MemorySegment values(long count, LongUnaryOperator value) {
		MemorySegment segment = this.memory.apply(count * BYTES);
		for (long i = 0; i < count; i++) {
			segment.setAtIndex(ValueLayout.JAVA_INT, i, (int) value.applyAsLong(i));
		}
		return segment;
	}

	private static MemorySegment slice(MemorySegment whole, long first, long count) {
		return whole.asSlice(first * BYTES, count * BYTES);
	}

	private void expect(String what, long[] counts, boolean byCounts, MemorySegment actual, LongUnaryOperator value) {
		for (long i = 0; i < actual.byteSize() / BYTES; i++) {
			int found = actual.getAtIndex(ValueLayout.JAVA_INT, i);
			if (found != value.applyAsLong(i)) {
				throw new AssertionError(
						"%s in place of %s elements%s on rank %d of %d (%s memory): element %d is %d, not %d".formatted(
								what, Arrays.toString(counts), byCounts ? " by counts" : "", this.rank, this.size,
								actual.isNative() ? "native" : "heap", i, found, value.applyAsLong(i)));
			}
		}
	}

}
