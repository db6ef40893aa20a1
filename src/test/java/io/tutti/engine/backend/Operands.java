package io.tutti.engine.backend;

import io.tutti.ReduceOp;

/**
 * Operands that differ by rank and index, small enough to be exact in every type, and
 * their reduction, computed independently.
 */
final class Operands {

	private Operands() {
	}

	static long of(int rank, int index, ReduceOp op) {
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

	/** The reduction of the operands of the first ranks. */
	static long reduced(int ranks, int index, ReduceOp op) {
		long result = of(0, index, op);
		for (int rank = 1; rank < ranks; rank++) {
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
		return (op == ReduceOp.AVERAGE) ? result / ranks : result;
	}

}
