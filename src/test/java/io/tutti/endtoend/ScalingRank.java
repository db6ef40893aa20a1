package io.tutti.endtoend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;

/**
 * A rank of {@link ScalingMeasurement}. Forms a group for each algorithm in turn; rank 0
 * prints the median time of a call, which is that of the slowest rank.
 */
final class ScalingRank {

	/** Written as in {@code tutti.collective.algorithms}. */
	private static final List<String> ALGORITHMS = List.of("all-reduce=ring", "all-reduce=recursive-doubling",
			"all-reduce=halving-doubling", "broadcast=binomial", "broadcast=chain", "reduce=binomial", "reduce=chain",
			"all-gather=ring", "all-gather=bruck", "reduce-scatter=ring", "all-to-all=pairwise", "all-to-all=bruck",
			"barrier=dissemination");

	/** Buffers, the whole buffer of a call; each can be divided among 16 ranks. */
	private static final int[] SIZES = { 128, 64 << 10, 512 << 10 };

	private static final int CALLS = 7;

	/** Longer than an all-reduce of 8 bytes. */
	private static final Duration LEAD = Duration.ofMillis(250);

	private ScalingRank() {
	}

	public static void main(String[] arguments) {
		RankAssignment assignment = RankResolution.resolve(System.getenv(), ResolutionSettings.DEFAULTS).assignment();
		for (String algorithm : ALGORITHMS) {
			EngineSettings settings = new EngineSettings("tcp", algorithm, "a token", -1, null, null, null, 0, "system",
					new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.from(algorithm)), Timeouts.DEFAULTS, null);
			try (Engine engine = Engine.join(assignment, settings, CollectiveListener.NONE);
					Arena arena = Arena.ofShared()) {
				measure(engine.world(), algorithm, arena);
				engine.world().barrier();
			}
		}
	}

	private static void measure(ProcessGroup group, String algorithm, Arena arena) {
		String collective = algorithm.substring(0, algorithm.indexOf('='));
		for (int bytes : "barrier".equals(collective) ? new int[] { 0 } : SIZES) {
			MemorySegment whole = arena.allocate(Math.max(8, bytes), 64);
			MemorySegment result = arena.allocate(Math.max(8, bytes), 64);
			double[] nanos = new double[CALLS];
			for (int i = -1; i < CALLS; i++) {
				long start = commonStart(group);
				call(group, collective, whole.asSlice(0, bytes), result.asSlice(0, bytes));
				double[] slowest = { System.nanoTime() - start };
				group.allReduce(slowest, ReduceOp.MAX);
				if (i >= 0) {
					nanos[i] = slowest[0];
				}
			}
			Arrays.sort(nanos);
			if (group.rank() == 0) {
				System.out.println("tutti\t" + algorithm.replace('=', '-') + "\t-\t" + group.worldSize() + "\t" + bytes
						+ "\t" + nanos[CALLS / 2] / Duration.ofNanos(1000).toNanos());
			}
		}
	}

	/**
	 * Waits until a time that all ranks have agreed on: after a barrier they would start
	 * up to a delay apart. Processes of one machine share the clock.
	 */
	private static long commonStart(ProcessGroup group) {
		long[] start = { System.nanoTime() + LEAD.toNanos() };
		group.allReduce(start, ReduceOp.MAX);
		for (long left = start[0] - System.nanoTime(); left > 0; left = start[0] - System.nanoTime()) {
			LockSupport.parkNanos(left);
		}
		return start[0];
	}

	private static void call(ProcessGroup group, String collective, MemorySegment whole, MemorySegment result) {
		long part = whole.byteSize() / group.worldSize();
		int rank = group.rank();
		DataType type = DataType.FLOAT32;
		switch (collective) {
			case "all-reduce" -> group.allReduce(whole, type, ReduceOp.MAX);
			case "broadcast" -> group.broadcast(whole, type, 0);
			case "reduce" -> group.reduce(whole, (rank == 0) ? result : MemorySegment.NULL, type, ReduceOp.MAX, 0);
			case "all-gather" -> group.allGather(whole.asSlice(0, part), result, type);
			case "reduce-scatter" -> group.reduceScatter(whole, result.asSlice(0, part), type, ReduceOp.MAX);
			case "all-to-all" -> group.allToAll(whole, result, type);
			case "barrier" -> group.barrier();
			default -> throw new IllegalArgumentException(collective);
		}
	}

}
