package io.tutti.engine.backend;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * Operands that differ by rank and index, small enough to be exact in every type, and
 * their reduction, computed independently.
 */
final class Operands {

	/** A multiple of every divisor of an index, so that operands repeat after it. */
	private static final int PERIOD = 9 * 7 * 5 * 4;

	private static final Map<Key, Repetition> KNOWN = new ConcurrentHashMap<>();

	private static final Map<List<Object>, Repetition> MOVED = new ConcurrentHashMap<>();

	/** The operands of the ranks from the first one to before the last one, reduced. */
	private record Key(DataType type, ReduceOp op, int firstRank, int lastRank) {

		private Repetition repetition() {
			return new Repetition(this.type, PERIOD, (index) -> reduced(this.firstRank, this.lastRank, index, this.op));
		}

	}

	private Operands() {
	}

	/** A rank's operands of a reduction. */
	static Repetition of(DataType type, ReduceOp op, int rank) {
		return KNOWN.computeIfAbsent(new Key(type, op, rank, rank + 1), Key::repetition);
	}

	/** A rank's elements that a collective moves without a reduction. */
	static Repetition moved(DataType type, int rank) {
		return MOVED.computeIfAbsent(List.of(type, rank),
				(_) -> new Repetition(type, 101, (index) -> (rank * 31 + index * 7 + 1) % 101));
	}

	/** The reduction of the operands of the first ranks. */
	static Repetition reduced(DataType type, ReduceOp op, int ranks) {
		return KNOWN.computeIfAbsent(new Key(type, op, 0, ranks), Key::repetition);
	}

	private static long of(int rank, int index, ReduceOp op) {
		return switch (op) {
			case SUM, MIN, MAX -> (rank * 7 + index * 3) % 9;
			case PRODUCT -> 1 + (rank + index) % 7 / 6;
			case AVERAGE -> index % 5;
			case BITWISE_AND -> 127 - (1 << (rank + index) % 7);
			case BITWISE_OR, BITWISE_XOR -> 1 << (rank * 3 + index) % 7;
			case LOGICAL_AND -> (rank * 5 + index) % 7;
			case LOGICAL_OR -> (rank * 5 + index) % 4 / 3 * 6;
			case LOGICAL_XOR -> (rank * 5 + index) % 3 * 8;
		};
	}

	private static long reduced(int firstRank, int lastRank, int index, ReduceOp op) {
		long result = of(firstRank, index, op);
		for (int rank = firstRank + 1; rank < lastRank; rank++) {
			long operand = of(rank, index, op);
			result = switch (op) {
				case SUM, AVERAGE -> result + operand;
				case PRODUCT -> result * operand;
				case MIN -> Math.min(result, operand);
				case MAX -> Math.max(result, operand);
				case BITWISE_AND -> result & operand;
				case BITWISE_OR -> result | operand;
				case BITWISE_XOR -> result ^ operand;
				case LOGICAL_AND -> (result != 0 && operand != 0) ? 1 : 0;
				case LOGICAL_OR -> (result != 0 || operand != 0) ? 1 : 0;
				case LOGICAL_XOR -> (result != 0 ^ operand != 0) ? 1 : 0;
			};
		}
		return (op == ReduceOp.AVERAGE) ? result / (lastRank - firstRank) : result;
	}

}
