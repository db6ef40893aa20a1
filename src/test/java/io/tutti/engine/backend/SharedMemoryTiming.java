package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.transport.shm.SocketExchange;

/**
 * Benchmark, not a test: times collectives between processes that share memory. Calls run
 * back to back and one sample is a batch of calls; it prints the median of the slowest
 * rank. With {@code +rewrite} each rank rewrites its buffer before each call, which is
 * not timed; with {@code +engine} buffers are the engine's. Start rank 0 pinned,
 * {@code taskset -c 0 java … SharedMemoryTiming start N all-reduce[+rewrite][+engine],… bytes …};
 * it starts the others.
 */
final class SharedMemoryTiming {

	private static final long BUDGET_NANOS = 300_000_000;

	private final ProcessGroup group;

	private final MemorySegment buffer;

	private final MemorySegment other;

	private SharedMemoryTiming(ProcessGroup group, long maxBytes, boolean engine, Arena arena) {
		this.group = group;
		this.buffer = engine ? group.allocate(maxBytes) : arena.allocate(maxBytes, 4096);
		this.other = engine ? group.allocate(Math.max(64, maxBytes)) : arena.allocate(Math.max(64, maxBytes), 4096);
	}

	public static void main(String[] arguments) throws Exception {
		if (arguments.length >= 3 && arguments[2].length() > 3 && !arguments[0].equals("start")) {
			try (SocketExchange exchange = SocketExchange.join(Integer.parseInt(arguments[2]),
					Integer.parseInt(arguments[0]))) {
				run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), exchange,
						Arrays.copyOfRange(arguments, 3, arguments.length));
			}
			return;
		}
		int worldSize = Integer.parseInt(arguments[1]);
		String[] rest = Arrays.copyOfRange(arguments, 2, arguments.length);
		try (ServerSocket server = SharedRank.listen()) {
			List<Process> others = SharedRank.start(SharedMemoryTiming.class, server, worldSize, true, List.of(rest));
			try (SocketExchange exchange = SocketExchange.host(server, worldSize)) {
				run(0, worldSize, exchange, rest);
			}
			finally {
				for (Process process : others) {
					process.waitFor();
				}
			}
		}
	}

	private static void run(int rank, int worldSize, SocketExchange exchange, String[] arguments) throws Exception {
		String[] collectives = arguments[0].split(",");
		long[] sizes = Arrays.stream(arguments).skip(1).mapToLong(Long::parseLong).toArray();
		try (Arena arena = Arena.ofShared(); ProcessGroup group = SharedRank.group(rank, worldSize, exchange)) {
			SharedMemoryTiming timing = new SharedMemoryTiming(group, Arrays.stream(sizes).max().orElse(64),
					arguments[0].contains("+engine"), arena);
			for (long bytes : sizes) {
				timing.check(bytes);
				for (String collective : collectives) {
					timing.measure(collective, bytes);
				}
			}
			group.barrier();
		}
	}

	private void check(long bytes) {
		MemorySegment tensor = this.buffer.asSlice(0, bytes);
		for (long i = 0; i < bytes / 4; i++) {
			tensor.setAtIndex(ValueLayout.JAVA_FLOAT, i, this.group.rank() + 1 + (i & 7));
		}
		this.group.allReduce(tensor, DataType.FLOAT32, ReduceOp.SUM);
		int n = this.group.worldSize();
		for (long i = 0; i < bytes / 4; i++) {
			if (tensor.getAtIndex(ValueLayout.JAVA_FLOAT, i) != n * (n + 1) / 2 + n * (i & 7)) {
				throw new AssertionError("element " + i + " of " + bytes + " bytes is wrong");
			}
		}
		tensor.fill((byte) 0);
	}

	private void measure(String collective, long bytes) {
		MemorySegment tensor = this.buffer.asSlice(0, bytes);
		boolean rewrite = collective.contains("+rewrite");
		int batch = (bytes < 65536 && !rewrite) ? 16 : 1;
		long warmUntil = System.nanoTime() + BUDGET_NANOS;
		long warmed = 0;
		MemorySegment stop = this.other.asSlice(0, 4);
		do {
			for (int i = 0; i < 100; i++) {
				call(collective, tensor, i);
			}
			warmed += 100;
			stop.set(ValueLayout.JAVA_INT, 0, (System.nanoTime() > warmUntil) ? 1 : 0);
			this.group.allReduce(stop, DataType.INT32, ReduceOp.MAX);
		}
		while (stop.get(ValueLayout.JAVA_INT, 0) == 0);
		double each = (double) (System.nanoTime() - warmUntil + BUDGET_NANOS) / warmed;
		stop.set(ValueLayout.JAVA_INT, 0, Math.clamp((long) (BUDGET_NANOS / each / batch), 7, 4000));
		this.group.allReduce(stop, DataType.INT32, ReduceOp.MAX);
		long[] samples = new long[stop.get(ValueLayout.JAVA_INT, 0)];
		for (int s = 0; s < samples.length; s++) {
			if (rewrite) {
				tensor.fill((byte) s);
				this.group.barrier();
			}
			long start = System.nanoTime();
			for (int i = 0; i < batch; i++) {
				call(collective, tensor, i);
			}
			samples[s] = System.nanoTime() - start;
		}
		Arrays.sort(samples);
		report(collective, bytes, samples, batch);
	}

	private void report(String collective, long bytes, long[] samples, int batch) {
		MemorySegment all = this.other.asSlice(0, 24);
		all.setAtIndex(ValueLayout.JAVA_LONG, 0, samples[samples.length / 2]);
		all.setAtIndex(ValueLayout.JAVA_LONG, 1, samples[0]);
		all.setAtIndex(ValueLayout.JAVA_LONG, 2, samples[samples.length - 1]);
		this.group.allReduce(all, DataType.INT64, ReduceOp.MAX);
		if (this.group.rank() == 0) {
			double median = all.getAtIndex(ValueLayout.JAVA_LONG, 0) / 1e3 / batch;
			System.out.printf("%s\t%d ranks\t%d B\tp50 %.3f us\tmin %.3f\tmax %.3f\t%.2f GB/s%n", collective,
					this.group.worldSize(), bytes, median, all.getAtIndex(ValueLayout.JAVA_LONG, 1) / 1e3 / batch,
					all.getAtIndex(ValueLayout.JAVA_LONG, 2) / 1e3 / batch, bytes / median / 1e3);
		}
	}

	private void call(String name, MemorySegment tensor, int iteration) {
		int plus = name.indexOf('+');
		String collective = (plus < 0) ? name : name.substring(0, plus);
		int ranks = this.group.worldSize();
		MemorySegment part = this.other.asSlice(0, tensor.byteSize() / ranks);
		switch (collective) {
			case "all-reduce" -> this.group.allReduce(tensor, DataType.FLOAT32, ReduceOp.SUM);
			case "broadcast" -> this.group.broadcast(tensor, DataType.FLOAT32, iteration % this.group.worldSize());
			case "all-gather" -> this.group.allGather(part, tensor, DataType.FLOAT32);
			case "reduce-scatter" -> this.group.reduceScatter(tensor, part, DataType.FLOAT32, ReduceOp.SUM);
			case "all-to-all" ->
				this.group.allToAll(tensor, this.other.asSlice(0, tensor.byteSize()), DataType.FLOAT32);
			case "reduce" ->
				this.group.reduce(tensor, this.other.asSlice(0, tensor.byteSize()), DataType.FLOAT32, ReduceOp.SUM, 0);
			case "barrier" -> this.group.barrier();
			default -> throw new IllegalArgumentException("no such collective: " + collective);
		}
	}

}
