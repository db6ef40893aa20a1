package io.tutti.engine.algorithm.kernel;

import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.NativeMemory;

/**
 * Prints the speed of each kernel and of a plain copy, in GB/s of one operand's bytes, as
 * the median over a third of a second. Run manually on an idle machine; the arguments are
 * the operators to time, {@code sum} by default.
 */
final class KernelTiming {

	private static final long[] SIZES = { 512 << 10, 16 << 20 };

	private static final long LARGEST = 16 << 20;

	private static final Duration WARM_UP = Duration.ofSeconds(2);

	private static final long SAMPLING_NANOS = 333_000_000;

	private final PrintStream out;

	private final long left;

	private final long right;

	private final long second;

	private KernelTiming(PrintStream out, Arena arena) {
		this.out = out;
		this.left = arena.allocate(LARGEST, 64).fill((byte) 1).address();
		this.right = arena.allocate(LARGEST, 64).fill((byte) 0).address();
		this.second = arena.allocate(LARGEST, 64).fill((byte) 0).address();
	}

	public static void main(String[] operators) {
		try (Arena arena = Arena.ofConfined()) {
			KernelTiming timing = new KernelTiming(System.out, arena);
			timing.out.println("GB/s" + " ".repeat(46) + "   512 KiB    16 MiB");
			timing.copies();
			for (String operator : (operators.length != 0) ? operators : new String[] { "sum" }) {
				ReduceOp op = ReduceOp.valueOf(operator.toUpperCase(Locale.ROOT));
				timing.reductions(ReductionKernels.vector(), op);
				timing.reductions(ReductionKernels.scalar(), op);
			}
		}
	}

	private void copies() {
		print("copy", (bytes) -> NativeMemory.copy(this.right, this.left, bytes));
	}

	private void reductions(ReductionKernels kernels, ReduceOp op) {
		for (DataType type : DataType.values()) {
			long start = System.nanoTime();
			kernels.warmUp(type, op, WARM_UP);
			long warmUpMillis = (System.nanoTime() - start) / 1_000_000;
			String name = kernels.name() + " " + type + " " + op;
			print(name + " (warm-up " + warmUpMillis + " ms)",
					(bytes) -> kernels.reduce(type, op, this.left, this.left, this.right, bytes / type.bytes()));
			print(name + " to both", (bytes) -> kernels.reduceToBoth(type, op, this.left, this.second, this.left,
					this.right, bytes / type.bytes()));
			if (op == ReduceOp.AVERAGE) {
				print(name + " finish", (bytes) -> kernels.finish(type, op, this.left, bytes / type.bytes(), 3));
			}
		}
	}

	private void print(String name, Loop loop) {
		StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-50s", name));
		for (long bytes : SIZES) {
			line.append(String.format(Locale.ROOT, "  %8.2f", bytes / medianNanos(loop, bytes)));
		}
		this.out.println(line);
	}

	private double medianNanos(Loop loop, long bytes) {
		long[] samples = new long[1_000_000];
		int count = 0;
		long start = System.nanoTime();
		for (long now = start; now - start < SAMPLING_NANOS && count < samples.length; count++) {
			loop.run(bytes);
			long after = System.nanoTime();
			samples[count] = after - now;
			now = after;
		}
		Arrays.sort(samples, 0, count);
		return samples[count / 2];
	}

	@FunctionalInterface
	private interface Loop {

		void run(long bytes);

	}

}
