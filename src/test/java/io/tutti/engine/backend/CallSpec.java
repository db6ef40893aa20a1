package io.tutti.engine.backend;

import java.util.ArrayList;
import java.util.Arrays;
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
 * @param inPlace whether send and receive buffer are the same, or one is this rank's part
 * of the other
 */
record CallSpec(Collective collective, boolean uneven, DataType type, ReduceOp op, int root, int count,
		boolean inPlace) {

	/** Collectives that also have a variant with counts by rank. */
	static final List<Collective> UNEVEN = List.of(Collective.ALL_GATHER, Collective.REDUCE_SCATTER,
			Collective.ALL_TO_ALL, Collective.GATHER, Collective.SCATTER);

	private static final List<Collective> WHOLE = List.of(Collective.ALL_REDUCE, Collective.REDUCE,
			Collective.BROADCAST, Collective.SCAN, Collective.EXCLUSIVE_SCAN);

	/** A call in the layout of {@link io.tutti.ProcessGroup}. */
	CallSpec(Collective collective, boolean uneven, DataType type, ReduceOp op, int root, int count) {
		this(collective, uneven, type, op, root, count,
				collective == Collective.ALL_REDUCE || collective == Collective.BROADCAST);
	}

	CallSpec {
		inPlace = switch (collective) {
			case BROADCAST -> true;
			case ALL_TO_ALL, BARRIER -> false;
			case ALL_REDUCE, REDUCE, ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, SCAN, EXCLUSIVE_SCAN -> inPlace;
		};
	}

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
		List<CallSpec> specs = new ArrayList<>();
		int turn = 0;
		for (boolean uneven : UNEVEN.contains(collective) ? new boolean[] { false, true } : new boolean[] { false }) {
			for (int count : new int[] { 0, 1, 2, worldSize - 1, worldSize, 1000 }) {
				turn++;
				DataType type = types[turn % types.length];
				List<ReduceOp> ops = operators(collective, type);
				ReduceOp op = ops.get(turn % ops.size());
				specs.add(new CallSpec(collective, uneven, type, op, turn % worldSize, count, turn % 2 == 0));
				specs.add(new CallSpec(collective, uneven, type, op, turn % worldSize, count, turn % 2 != 0));
			}
			int large = (WHOLE.contains(collective) || worldSize <= 4) ? 70_003 : 100_003 / worldSize;
			for (boolean inPlace : new boolean[] { false, true }) {
				specs.add(new CallSpec(collective, uneven, DataType.FLOAT64, ReduceOp.SUM, worldSize - 1, large,
						inPlace));
				specs.add(new CallSpec(collective, uneven, DataType.FLOAT16, ReduceOp.MAX, 0, large, inPlace));
			}
			for (DataType type : types) {
				for (ReduceOp op : operators(collective, type)) {
					specs.add(new CallSpec(collective, uneven, type, op, turn++ % worldSize, worldSize + 1,
							turn % 2 == 0));
				}
			}
		}
		return specs;
	}

	private static List<ReduceOp> operators(Collective collective, DataType type) {
		if (!collective.reduces()) {
			return List.of(ReduceOp.SUM);
		}
		boolean scan = collective == Collective.SCAN || collective == Collective.EXCLUSIVE_SCAN;
		return Arrays.stream(ReduceOp.values())
			.filter((op) -> op.appliesTo(type) && !(scan && op == ReduceOp.AVERAGE))
			.toList();
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
		DataType type = DataType.values()[random.nextInt(DataType.values().length)];
		List<ReduceOp> ops = operators(collective, type);
		return new CallSpec(collective, UNEVEN.contains(collective) && random.nextBoolean(), type,
				ops.get(random.nextInt(ops.size())), random.nextInt(worldSize),
				WHOLE.contains(collective) ? count : count / worldSize, random.nextBoolean());
	}

}
