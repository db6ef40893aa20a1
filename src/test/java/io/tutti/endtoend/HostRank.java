package io.tutti.endtoend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.function.IntUnaryOperator;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;

/**
 * One rank in a separate process, controlled by lines on its input. The address of rank 0
 * lets it join a group. In the group {@code collectives} runs and checks each collective,
 * {@code endless} runs collectives that use every link until one fails, {@code messages}
 * does so with a message around all ranks, and {@code leave} lets it leave the group. The
 * end of the input ends the rank.
 */
final class HostRank {

	/** Lets the rank leave its group. */
	static final String LEAVE = "leave";

	static final Duration HEARTBEAT = Duration.ofSeconds(3);

	static final Duration CALL = Duration.ofSeconds(20);

	private static final int[] COUNTS = { 0, 1, 5, 1000, 40_000 };

	private static final int LARGE_COUNT = 1 << 18;

	private final float[] values = new float[LARGE_COUNT];

	private final ProcessGroup group;

	private final int rank;

	private final int ranks;

	private HostRank(ProcessGroup group) {
		this.group = group;
		this.rank = group.rank();
		this.ranks = group.worldSize();
	}

	public static void main(String[] arguments) {
		try (Scanner orders = new Scanner(System.in)) {
			while (orders.hasNextLine()) {
				takePart(orders.nextLine(), orders);
			}
		}
	}

	/** From joining a group to leaving it. */
	private static void takePart(String masterAddress, Scanner orders) {
		Map<String, String> environment = new HashMap<>(System.getenv());
		environment.put("MASTER_ADDR", masterAddress);
		RankAssignment assignment = RankResolution.resolve(environment, ResolutionSettings.DEFAULTS).assignment();
		EngineSettings settings = new EngineSettings("tcp", "hosts", "a token", -1, null, null, null, 0, "system",
				SharedConfig.DEFAULT,
				new Timeouts(Duration.ofSeconds(60), CALL, HEARTBEAT, Duration.ofSeconds(2), Duration.ofSeconds(30)),
				null);
		try (Engine engine = Engine.join(assignment, settings, CollectiveListener.NONE)) {
			HostRank self = new HostRank(engine.world());
			System.out
				.println("rank " + self.rank + " joined; members " + engine.membership().roster() + "; " + self.group);
			for (String order = orders.nextLine(); !order.equals(LEAVE); order = orders.nextLine()) {
				self.obey(order);
			}
		}
		System.out.println("rank " + assignment.rank() + " left");
	}

	private void obey(String order) {
		switch (order) {
			case "collectives" -> {
				for (int count : COUNTS) {
					checkAll(count);
				}
				System.out.println("rank " + this.rank + " found everything right");
			}
			case "endless" -> endless(this::collectives);
			case "messages" -> endless(() -> passAround(filled(1, (i) -> value(this.rank, i)), 1));
			default -> throw new IllegalArgumentException("unknown order: " + order);
		}
	}

	private void collectives() {
		this.group.allReduce(this.values, ReduceOp.SUM);
		this.group.allToAll(of(new int[this.ranks]), of(new int[this.ranks]), DataType.INT32);
	}

	private void endless(Runnable calls) {
		long start = System.nanoTime();
		for (int call = 0;; call++) {
			start = System.nanoTime();
			try {
				calls.run();
			}
			catch (CollectiveException ex) {
				System.out.println("rank " + this.rank + " failed after "
						+ Duration.ofNanos(System.nanoTime() - start).toMillis() + " ms: " + ex.getMessage());
				return;
			}
			if (call == 3) {
				System.out.println("rank " + this.rank + " is under way");
			}
		}
	}

	private void checkAll(int count) {
		int all = count * this.ranks;
		int[] own = filled(count, (i) -> value(this.rank, i));
		int[] whole = filled(all, (i) -> value(this.rank, i));
		int root = count % this.ranks;
		this.group.barrier();
		int[] sum = own.clone();
		this.group.allReduce(sum, ReduceOp.SUM);
		expect("all-reduce", sum, (i) -> sumOver(i));
		int[] reduced = new int[(this.rank == root) ? count : 0];
		this.group.reduce(of(own), of(reduced), DataType.INT32, ReduceOp.SUM, root);
		expect("reduce", reduced, this::sumOver);
		int[] sent = own.clone();
		this.group.broadcast(sent, root);
		expect("broadcast", sent, (i) -> value(root, i));
		int[] gathered = new int[all];
		this.group.allGather(own, gathered);
		expect("all-gather", gathered, (i) -> value(i / count, i % count));
		int[] part = new int[count];
		this.group.reduceScatter(whole, part, ReduceOp.SUM);
		expect("reduce-scatter", part, (i) -> sumOver(this.rank * count + i));
		int[] atRoot = new int[(this.rank == root) ? all : 0];
		this.group.gather(of(own), of(atRoot), DataType.INT32, root);
		expect("gather", atRoot, (i) -> value(i / count, i % count));
		this.group.scatter(of((this.rank == root) ? whole : new int[0]), of(part), DataType.INT32, root);
		expect("scatter", part, (i) -> value(root, this.rank * count + i));
		this.group.allToAll(of(whole), of(gathered), DataType.INT32);
		expect("all-to-all", gathered, (i) -> value(i / count, this.rank * count + i % count));
		passAround(own, count);
	}

	/** Each rank sends to the next rank and receives from the previous one. */
	private void passAround(int[] own, int count) {
		var sending = this.group.sendAsync(of(own), DataType.INT32, (this.rank + 1) % this.ranks, count).toFuture();
		int before = (this.rank + this.ranks - 1) % this.ranks;
		int[] received = new int[count];
		this.group.receive(of(received), DataType.INT32, before, count);
		sending.join();
		expect("send and receive", received, (i) -> value(before, i));
	}

	private int sumOver(int index) {
		int sum = 0;
		for (int other = 0; other < this.ranks; other++) {
			sum += value(other, index);
		}
		return sum;
	}

	private static int value(int rank, int index) {
		return 31 * index + 1_000_003 * (rank + 1);
	}

	private static MemorySegment of(int[] values) {
		return MemorySegment.ofArray(values);
	}

	private static int[] filled(int count, IntUnaryOperator value) {
		int[] values = new int[count];
		Arrays.setAll(values, value);
		return values;
	}

	private void expect(String what, int[] found, IntUnaryOperator expected) {
		for (int i = 0; i < found.length; i++) {
			if (found[i] != expected.applyAsInt(i)) {
				throw new AssertionError("rank " + this.rank + ": " + what + " of " + found.length + " elements has "
						+ found[i] + " at " + i + " instead of " + expected.applyAsInt(i));
			}
		}
	}

}
