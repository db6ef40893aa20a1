package io.tutti.engine.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Parameters of one collective call, the same on every rank.
 *
 * @param uneven whether the ranks' parts differ in size
 * @param count elements of a buffer or of a part; base of uneven counts
 */
record CallSpec(Collective collective, boolean uneven, DataType type, ReduceOp op, int root, int count) {

	/** Collectives that also have a variant with counts by rank. */
	static final List<Collective> UNEVEN = List.of(Collective.ALL_GATHER, Collective.REDUCE_SCATTER,
			Collective.ALL_TO_ALL);

	private static final List<Collective> REDUCING = List.of(Collective.ALL_REDUCE, Collective.REDUCE,
			Collective.REDUCE_SCATTER);

	private static final List<Collective> WHOLE = List.of(Collective.ALL_REDUCE, Collective.REDUCE,
			Collective.BROADCAST);

	/** A rank's part of an uneven all-gather or reduce-scatter; every fourth is empty. */
	int part(int rank) {
		return (rank % 4 == 3) ? 0 : this.count * (1 + rank % 3) / 2;
	}

	/** Elements that a rank sends to another in an uneven all-to-all. */
	int part(int from, int to) {
		return this.count * ((from + 2 * to) % 3) / 2 + ((from == to) ? 1 : 0);
	}

	/** The parts by rank, from 0. */
	long[] parts(int worldSize) {
		long[] parts = new long[worldSize];
		for (int rank = 0; rank < worldSize; rank++) {
			parts[rank] = part(rank);
		}
		return parts;
	}

	/**
	 * Calls of one collective at every relevant count, cycling through types, operators
	 * and roots; at one count, every type with every operator.
	 */
	static List<CallSpec> of(Collective collective, int worldSize) {
		DataType[] types = DataType.values();
		ReduceOp[] ops = ReduceOp.values();
		List<CallSpec> specs = new ArrayList<>();
		int turn = 0;
		for (boolean uneven : UNEVEN.contains(collective) ? new boolean[] { false, true } : new boolean[] { false }) {
			for (int count : new int[] { 0, 1, 2, worldSize - 1, worldSize, 1000 }) {
				turn++;
				specs.add(new CallSpec(collective, uneven, types[turn % types.length], ops[turn % ops.length],
						turn % worldSize, count));
			}
			int large = (WHOLE.contains(collective) || worldSize <= 4) ? 70_003 : 100_003 / worldSize;
			specs.add(new CallSpec(collective, uneven, DataType.FLOAT64, ReduceOp.SUM, worldSize - 1, large));
			specs.add(new CallSpec(collective, uneven, DataType.FLOAT16, ReduceOp.MAX, 0, large));
			for (DataType type : types) {
				for (ReduceOp op : REDUCING.contains(collective) ? ops : new ReduceOp[] { ReduceOp.SUM }) {
					specs.add(new CallSpec(collective, uneven, type, op, turn++ % worldSize, worldSize + 1));
				}
			}
		}
		return specs;
	}

	/** A random call. */
	static CallSpec random(Random random, int worldSize) {
		Collective collective = Collective.values()[random.nextInt(Collective.values().length)];
		int count = switch (random.nextInt(10)) {
			case 0 -> 0;
			case 1, 2, 3, 4 -> random.nextInt(20);
			case 5, 6, 7 -> random.nextInt(3000);
			case 8 -> random.nextInt(20_000);
			default -> random.nextInt(60_000);
		};
		return new CallSpec(collective, UNEVEN.contains(collective) && random.nextBoolean(),
				DataType.values()[random.nextInt(DataType.values().length)],
				ReduceOp.values()[random.nextInt(ReduceOp.values().length)], random.nextInt(worldSize),
				WHOLE.contains(collective) ? count : count / worldSize);
	}

}
