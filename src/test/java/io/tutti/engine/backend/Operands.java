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
		};
	}

	static long reduced(int worldSize, int index, ReduceOp op) {
		long result = of(0, index, op);
		for (int rank = 1; rank < worldSize; rank++) {
			long operand = of(rank, index, op);
			result = switch (op) {
				case SUM, AVERAGE -> result + operand;
				case PRODUCT -> result * operand;
				case MIN -> Math.min(result, operand);
				case MAX -> Math.max(result, operand);
			};
		}
		return (op == ReduceOp.AVERAGE) ? result / worldSize : result;
	}

}
