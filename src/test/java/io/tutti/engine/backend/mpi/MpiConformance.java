package io.tutti.engine.backend.mpi;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.backend.InPlaceLayouts;
import io.tutti.launch.standalone.MpiEnvironment;

/**
 * Conformance checks for a communicator on any backend. Every rank runs them, in threads
 * on Tutti's own engine and in processes under real launchers. Expected values are
 * computed from ranks and indices only.
 */
final class MpiConformance {

	private static final int[] COUNTS = { 0, 5, 200 };

	private static final int LARGE = 300_000;

	private final Communicator world;

	private final int rank;

	private final int size;

	private int checks;

	private MpiConformance(Communicator world) {
		this.world = world;
		this.rank = world.rank();
		this.size = world.size();
	}

	/** Runs all checks under a launcher and prints their number. */
	public static void main(String[] args) {
		try (Mpi mpi = MpiEnvironment.init()) {
			double start = Mpi.wtime();
			int checks = run(mpi.world());
			System.out.print("conformance rank %d of %d: %d checks over %s in %.1f s%n".formatted(mpi.world().rank(),
					mpi.world().size(), checks, mpi.world().group().transport(), Mpi.wtime() - start));
			System.out.flush();
		}
	}

	/**
	 * Runs all checks.
	 * @return number of comparisons
	 */
	static int run(Communicator world) {
		MpiConformance conformance = new MpiConformance(world);
		conformance.reductions();
		conformance.dataMovement();
		conformance.callersBuffers();
		conformance.requests();
		conformance.messages();
		conformance.layouts();
		conformance.unmatched();
		conformance.order();
		conformance.groups();
		conformance.closedGroup();
		conformance.invalidArguments();
		world.barrier();
		return conformance.checks;
	}

	private void reductions() {
		for (DataType type : DataType.values()) {
			for (ReduceOp op : Stream.of(ReduceOp.values()).filter((any) -> any.appliesTo(type)).toList()) {
				for (int count : COUNTS) {
					reductions(type, op, count);
				}
			}
		}
		reductions(DataType.FLOAT32, ReduceOp.SUM, LARGE);
		float[] numbers = { (this.rank == 0) ? Float.NaN : 1, 2 };
		this.world.allReduce(numbers, 2, DataType.FLOAT32, ReduceOp.MAX);
		expect("the maximum of NaN", Float.isNaN(numbers[0]) && numbers[1] == 2);
		eightBitIntegers();
	}

	/** Sums wrap around, and unsigned integers are compared as such. */
	private void eightBitIntegers() {
		byte[] sum = { 100, -100 };
		this.world.allReduce(sum, 2, DataType.INT8, ReduceOp.SUM);
		expect("a signed sum", sum[0] == (byte) (100 * this.size) && sum[1] == (byte) (-100 * this.size));
		byte[] unsigned = { (byte) 200, (byte) ((this.rank == 0) ? 216 : 102) };
		byte[] least = unsigned.clone();
		byte[] most = unsigned.clone();
		this.world.allReduce(unsigned, 2, DataType.UINT8, ReduceOp.SUM);
		expect("an unsigned sum", unsigned[0] == (byte) (200 * this.size));
		this.world.allReduce(least, 2, DataType.UINT8, ReduceOp.MIN);
		expect("an unsigned minimum", least[1] == (byte) ((this.size > 1) ? 102 : 216));
		this.world.allReduce(most, 2, DataType.UINT8, ReduceOp.MAX);
		expect("an unsigned maximum", most[1] == (byte) 216);
	}

	private void reductions(DataType type, ReduceOp op, int count) {
		String what = op + " of " + count + " " + type;
		MemorySegment mine = Values.of(type, count, (i) -> operand(this.rank, i));
		MemorySegment result = Values.of(type, count, (i) -> 0);
		this.world.allReduce(mine, result, count, type, op);
		expect("all-reduce " + what, result, type, count, (i) -> reduced(type, op, i));
		expect("all-reduce leaves the operand, " + what, mine, type, count, (i) -> operand(this.rank, i));
		MemorySegment inPlace = Values.of(type, count, (i) -> operand(this.rank, i));
		this.world.allReduce(inPlace, count, type, op);
		expect("all-reduce in place " + what, inPlace, type, count, (i) -> reduced(type, op, i));
		int root = count % this.size;
		MemorySegment rooted = Values.of(type, count, (i) -> operand(this.rank, i));
		this.world.reduce(rooted, count, type, op, root);
		expect("reduce in place " + what, rooted, type, count,
				(i) -> (this.rank == root) ? reduced(type, op, i) : operand(this.rank, i));
		MemorySegment atRoot = Values.of(type, count, (i) -> 0);
		this.world.reduce(mine, (this.rank == root) ? atRoot : null, count, type, op, root);
		expect("reduce " + what, atRoot, type, count, (i) -> (this.rank == root) ? reduced(type, op, i) : 0);
		scattered(type, op, count, what);
	}

	private void scattered(DataType type, ReduceOp op, int count, String what) {
		MemorySegment all = Values.of(type, count * this.size, (i) -> operand(this.rank, i));
		MemorySegment part = Values.of(type, count, (i) -> 0);
		this.world.reduceScatterBlock(all, part, count, type, op);
		expect("reduce-scatter " + what, part, type, count, (i) -> reduced(type, op, this.rank * count + i));
		int[] counts = IntStream.range(0, this.size).map((rank) -> (rank == 0) ? count + 1 : rank).toArray();
		int before = IntStream.of(counts).limit(this.rank).sum();
		MemorySegment uneven = Values.of(type, IntStream.of(counts).sum(), (i) -> operand(this.rank, i));
		this.world.reduceScatter(uneven, counts, type, op);
		expect("reduce-scatter by counts in place " + what, uneven, type, counts[this.rank],
				(i) -> reduced(type, op, before + i));
	}

	private void dataMovement() {
		for (DataType type : DataType.values()) {
			for (int count : COUNTS) {
				for (int root = 0; root < this.size; root++) {
					rooted(type, count, root);
				}
				unrooted(type, count);
			}
		}
		unrooted(DataType.INT64, LARGE / this.size);
	}

	private void rooted(DataType type, int count, int root) {
		String what = count + " " + type + " root " + root;
		boolean isRoot = this.rank == root;
		MemorySegment one = Values.of(type, count, (i) -> isRoot ? value(root, i) : 0);
		this.world.bcast(one, count, type, root);
		expect("broadcast " + what, one, type, count, (i) -> value(root, i));
		MemorySegment mine = Values.of(type, count, (i) -> value(this.rank, i));
		MemorySegment all = Values.of(type, count * this.size, (i) -> 0);
		this.world.gather(mine, isRoot ? all : null, count, type, root);
		expect("gather " + what, all, type, count * this.size, (i) -> isRoot ? value(i / count, i % count) : 0);
		MemorySegment inPlace = isRoot
				? Values.of(type, count * this.size, (i) -> (i / count == root) ? value(root, i % count) : 0) : mine;
		this.world.gather(inPlace, count, type, root);
		if (isRoot) {
			expect("gather in place " + what, inPlace, type, count * this.size, (i) -> value(i / count, i % count));
		}
		MemorySegment part = Values.of(type, count, (i) -> 0);
		this.world.scatter(isRoot ? all : null, part, count, type, root);
		expect("scatter " + what, part, type, count, (i) -> value(this.rank, i));
		MemorySegment kept = isRoot ? all : Values.of(type, count, (i) -> 0);
		this.world.scatter(kept, count, type, root);
		expect("scatter in place " + what, kept, type, isRoot ? count * this.size : count,
				(i) -> isRoot ? value(i / count, i % count) : value(this.rank, i));
	}

	private void unrooted(DataType type, int count) {
		String what = count + " " + type;
		MemorySegment mine = Values.of(type, count, (i) -> value(this.rank, i));
		MemorySegment all = Values.of(type, count * this.size, (i) -> 0);
		this.world.allGather(mine, all, count, type);
		expect("all-gather " + what, all, type, count * this.size, (i) -> value(i / count, i % count));
		MemorySegment inPlace = Values.of(type, count * this.size,
				(i) -> (i / count == this.rank) ? value(this.rank, i % count) : 0);
		this.world.allGather(inPlace, count, type);
		expect("all-gather in place " + what, inPlace, type, count * this.size, (i) -> value(i / count, i % count));
		MemorySegment send = Values.of(type, count * this.size, (i) -> value(this.rank + i / count, i));
		MemorySegment receive = Values.of(type, count * this.size, (i) -> 0);
		this.world.allToAll(send, receive, count, type);
		IntToDoubleFunction exchanged = (i) -> value(i / count + this.rank, this.rank * count + i % count);
		expect("all-to-all " + what, receive, type, count * this.size, exchanged);
		this.world.allToAll(send, count, type);
		expect("all-to-all in place " + what, send, type, count * this.size, exchanged);
	}

	private void callersBuffers() {
		double[] doubles = { this.rank, 1, 99 };
		this.world.allReduce(doubles, 2, DataType.FLOAT64, ReduceOp.SUM);
		expect("an array", doubles[0] == this.size * (this.size - 1) / 2 && doubles[1] == this.size);
		expect("what lies behind the count", doubles[2] == 99);
		ByteBuffer direct = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
		direct.putInt(0, 7).putInt(4, this.rank).position(4);
		this.world.bcast(direct, 1, DataType.INT32, this.size - 1);
		expect("a byte buffer from its position on", direct.getInt(4) == this.size - 1 && direct.getInt(0) == 7);
		long[] longs = { this.rank };
		long[] gathered = new long[this.size];
		this.world.allGather(longs, gathered, 1, DataType.INT64);
		expect("arrays", IntStream.range(0, this.size).allMatch((i) -> gathered[i] == i));
	}

	private void requests() {
		int[][] buffers = IntStream.range(0, 5).mapToObj((i) -> new int[] { this.rank + i }).toArray(int[][]::new);
		List<Request> open = new ArrayList<>();
		for (int[] buffer : buffers) {
			open.add(this.world.iAllReduce(buffer, 1, DataType.INT32, ReduceOp.SUM));
		}
		int[] last = { (this.rank == this.size - 1) ? 42 : 0 };
		open.add(this.world.iBcast(last, 1, DataType.INT32, this.size - 1));
		int[] sum = new int[1];
		open.add(this.world.iAllReduce(new int[] { 1 }, sum, 1, DataType.INT32, ReduceOp.SUM));
		Request barrier = this.world.iBarrier();
		Request.waitAll(open.reversed());
		for (int i = 0; i < buffers.length; i++) {
			expect("the " + i + "th request", buffers[i][0] == this.size * (this.size - 1) / 2 + i * this.size);
		}
		expect("a broadcast by request", last[0] == 42 && sum[0] == this.size);
		while (barrier.test().isEmpty()) {
			Thread.yield();
		}
		expect("a barrier that was tested", barrier.test().isPresent());
	}

	private void messages() {
		int next = (this.rank + 1) % this.size;
		int previous = (this.rank + this.size - 1) % this.size;
		double[] got = new double[3];
		Status status = this.world.sendRecv(new int[] { this.rank }, 1, DataType.INT32, next, 5, got, 0,
				DataType.FLOAT64, Mpi.PROC_NULL, 5);
		expect("nobody sent", status.source() == Mpi.PROC_NULL && status.count() == 0);
		int[] one = new int[4];
		status = this.world.recv(one, 4, DataType.INT32, previous, 5);
		expect("a ring", one[0] == previous && status.equals(new Status(previous, 5, 1)));
		status = this.world.sendRecv(new float[] { this.rank }, 1, DataType.FLOAT32, next, 8, one, 4, DataType.INT32,
				Mpi.PROC_NULL, 9);
		float[] from = new float[1];
		status = this.world.recv(from, 1, DataType.FLOAT32, Mpi.ANY_SOURCE, 8);
		expect("a wildcard", from[0] == previous && status.source() == previous);
		this.world.send(one, 4, DataType.INT32, Mpi.PROC_NULL, 0);
		large(next, previous);
		refused(next, previous);
		sendToSelf();
	}

	/** A send-receive whose send is refused leaves no receive behind. */
	private void refused(int next, int previous) {
		int[] buffer = { -1 };
		expectIllegal(() -> this.world.sendRecv(new int[1], 1, DataType.INT32, next, -7, buffer, 1, DataType.INT32,
				previous, 12));
		expectIllegal(() -> this.world.sendRecv(buffer, 1, DataType.INT32, next, 12, buffer, 1, DataType.INT32,
				previous, 12));
		this.world.barrier();
		this.world.send(new int[] { this.rank }, 1, DataType.INT32, next, 12);
		int[] got = new int[1];
		this.world.recv(got, 1, DataType.INT32, previous, 12, Duration.ofSeconds(20));
		expect("the receive of a refused call", got[0] == previous && buffer[0] == -1);
	}

	private void large(int next, int previous) {
		MemorySegment send = Values.of(DataType.FLOAT32, LARGE, (i) -> value(this.rank, i));
		MemorySegment receive = Values.of(DataType.FLOAT32, LARGE, (i) -> 0);
		Request incoming = this.world.iRecv(receive, LARGE, DataType.FLOAT32, previous, 1);
		Request outgoing = this.world.iSend(send, LARGE, DataType.FLOAT32, next, 1);
		List<Status> done = Request.waitAll(incoming, outgoing);
		expect("a large message", receive, DataType.FLOAT32, LARGE, (i) -> value(previous, i));
		expect("its status", done.getFirst().equals(new Status(previous, 1, LARGE)));
	}

	private void sendToSelf() {
		byte[] got = new byte[8];
		Request incoming = this.world.iRecv(got, 8, DataType.INT8, this.rank, 3);
		this.world.send(new byte[] { 1, 2 }, 2, DataType.INT8, this.rank, 3);
		expect("a message to oneself", incoming.waitFor().count() == 2 && got[1] == 2);
		Request empty = this.world.iRecv(got, 8, DataType.INT8, this.rank, Mpi.ANY_TAG);
		this.world.send(got, 0, DataType.INT8, this.rank, 4);
		expect("an empty message", empty.waitFor().equals(new Status(this.rank, 4, 0)));
	}

	/** MPI's matching rule: by tag, then in the order of sending. */
	private void order() {
		int messages = 40;
		if (this.rank == 0) {
			for (int from = 1; from < this.size; from++) {
				int[] first = new int[2000];
				this.world.recv(first, 2000, DataType.INT32, from, 77);
				expect("the one that was asked for", first[0] == -from);
				for (int i = 0; i < messages; i++) {
					Status status = this.world.recv(first, 2000, DataType.INT32, from, (i % 2 == 0) ? 1 : Mpi.ANY_TAG);
					expect("message " + i + " in its turn",
							first[0] == i && status.tag() == 1 && status.count() == ((i % 3 == 0) ? 2000 : 1));
				}
			}
			anySource();
			return;
		}
		List<Request> sent = new ArrayList<>();
		for (int i = 0; i < messages; i++) {
			int[] message = new int[(i % 3 == 0) ? 2000 : 1];
			message[0] = i;
			sent.add(this.world.iSend(message, message.length, DataType.INT32, 0, 1));
		}
		sent.add(this.world.iSend(new int[] { -this.rank }, 1, DataType.INT32, 0, 77));
		Request.waitAll(sent);
		this.world.send(new int[] { this.rank }, 1, DataType.INT32, 0, this.rank);
	}

	private void anySource() {
		boolean[] received = new boolean[this.size];
		for (int i = 1; i < this.size; i++) {
			int[] who = new int[1];
			Status status = this.world.recv(who, 1, DataType.INT32, Mpi.ANY_SOURCE, Mpi.ANY_TAG);
			expect("anybody, with any tag", status.source() == who[0] && status.tag() == who[0] && !received[who[0]]);
			received[who[0]] = true;
		}
	}

	private void groups() {
		Communicator part = this.world.split(this.rank % 2, -this.rank);
		int members = (this.size + 1 - this.rank % 2) / 2;
		expect("the size of a part", part != null && part.size() == members);
		expect("the order by key", part.rank() == members - 1 - this.rank / 2);
		int[] sum = { this.rank };
		part.allReduce(sum, 1, DataType.INT32, ReduceOp.SUM);
		expect("a sum in a part",
				sum[0] == IntStream.range(0, this.size).filter((rank) -> rank % 2 == this.rank % 2).sum());
		int[] got = new int[1];
		int neighbour = (part.rank() + 1) % members;
		Request incoming = part.iRecv(got, 1, DataType.INT32, Mpi.ANY_SOURCE, 0);
		part.send(new int[] { part.rank() }, 1, DataType.INT32, neighbour, 0);
		expect("a message in a part", incoming.waitFor().source() == got[0] && neighbour < members);
		part.barrier();
		part.close();
		Communicator first = this.world.split((this.rank == 0) ? 3 : Mpi.UNDEFINED, 0);
		expect("no part", (first == null) == (this.rank != 0));
		if (first != null) {
			first.barrier();
			first.close();
		}
	}

	private void invalidArguments() {
		expectInvalidRank(() -> this.world.bcast(new int[1], 1, DataType.INT32, this.size));
		expectInvalidRank(() -> this.world.send(new int[1], 1, DataType.INT32, -1, 0));
		expectIllegal(() -> this.world.allReduce(new int[1], 2, DataType.INT32, ReduceOp.SUM));
		expectIllegal(() -> this.world.allReduce(new int[1], 1, DataType.FLOAT32, ReduceOp.SUM));
		expectIllegal(() -> this.world.allReduce("text", 1, DataType.FLOAT32, ReduceOp.SUM));
		expectIllegal(() -> this.world.send(new int[1], 1, DataType.INT32, 0, -7));
		int previous = (this.rank + this.size - 1) % this.size;
		Request small = this.world.iRecv(new int[1], 1, DataType.INT32, previous, 6);
		this.world.send(new int[3], 3, DataType.INT32, (this.rank + 1) % this.size, 6);
		try {
			small.waitFor();
			throw new AssertionError("a message was larger than its buffer, and nobody said so");
		}
		catch (MessageMismatchException ex) {
			expect("who sent too much", ex.source() == previous && ex.tag() == 6);
		}
		int[] still = { 1 };
		this.world.allReduce(still, 1, DataType.INT32, ReduceOp.SUM);
		expect("all is well after mistakes", still[0] == this.size);
	}

	private void layouts() {
		InPlaceLayouts.check(this.world.group());
		this.checks++;
	}

	/** Probes, and receives that end alone because no message has matched them. */
	private void unmatched() {
		ProcessGroup group = this.world.group();
		int next = (this.rank + 1) % this.size;
		int previous = (this.rank + this.size - 1) % this.size;
		expect("nothing to probe", group.tryProbe(previous, 5) == null);
		group.barrier();
		group.send(MemorySegment.ofArray(new int[] { 1, 2, 3 }), DataType.INT32, next, 5);
		Message expected = new Message(previous, 5, 3);
		expect("the envelope", group.probe(Message.ANY_SOURCE, 5).equals(expected));
		expect("the envelope with any tag", group.probe(previous, Message.ANY_TAG).equals(expected));
		expect("another tag", group.tryProbe(previous, 6) == null);
		int[] values = new int[3];
		expect("the probed message",
				group.receive(MemorySegment.ofArray(values), DataType.INT32, previous, 5) == 3 && values[2] == 3);
		expect("a probe after the receive", group.tryProbe(previous, 5) == null);
		group.send(MemorySegment.ofArray(new long[] { 1, 2, 3 }), DataType.INT64, next, 9);
		group.send(MemorySegment.ofArray(new float[] { 4 }), DataType.FLOAT32, next, 9);
		group.barrier();
		expect("the first of two types", group.probe(previous, 9).equals(new Message(previous, 9, 3)));
		group.receive(MemorySegment.ofArray(new long[3]), DataType.INT64, previous, 9);
		expect("then the second", group.probe(previous, 9).equals(new Message(previous, 9, 1)));
		group.receive(MemorySegment.ofArray(new float[1]), DataType.FLOAT32, previous, 9);

		Work<Message> receive = group.receiveAsync(MemorySegment.ofArray(new int[1]), DataType.INT32, previous, 8);
		expect("an unmatched receive is withdrawn", receive.cancel());
		expect("its failure", receive.failure() instanceof CancellationException);
		expectPlace(receive.failure(), "world", List.of(previous));
		expect("once", !receive.cancel());
		ProcessGroup brief = group.withTimeout(Duration.ofMillis(50));
		expectTimeout(() -> brief.receive(MemorySegment.ofArray(new int[1]), DataType.INT32, previous, 8));
		expectTimeout(() -> brief.receiveAny(MemorySegment.ofArray(new int[1]), DataType.INT32, Message.ANY_SOURCE, 8));
		expectTimeout(() -> brief.probe(previous, 8));
		expect("the group stays usable", group.state() == GroupState.READY);
		group.barrier();
		group.send(MemorySegment.ofArray(new int[] { this.rank }), DataType.INT32, next, 8);
		int[] late = new int[1];
		group.receive(MemorySegment.ofArray(late), DataType.INT32, previous, 8);
		expect("a message after withdrawn receives", late[0] == previous);
		group.barrier();
	}

	private void closedGroup() {
		ProcessGroup part = this.world.group().split(0, this.rank);
		part.close();
		MemorySegment buffer = MemorySegment.ofArray(new int[1]);
		for (Runnable call : List.<Runnable>of(part::barrier, () -> part.allReduce(new int[1], ReduceOp.SUM),
				() -> part.send(buffer, DataType.INT32, 0, 0), () -> part.tryProbe(0, 0),
				() -> part.receiveAsync(buffer, DataType.INT32, 0, 0), () -> part.split(0, 0))) {
			try {
				call.run();
				throw new AssertionError("a call on a closed group returned");
			}
			catch (IllegalStateException ex) {
				expectPlace(ex, part.name(), List.of());
			}
		}
		this.world.group().barrier();
	}

	private void expectPlace(Throwable failure, String group, List<Integer> peers) {
		expect("the place of " + failure, failure instanceof Failure.Origin place && place.rank() == this.rank
				&& place.worldSize() == this.size && group.equals(place.group()) && place.peers().equals(peers));
	}

	private void expectTimeout(Runnable call) {
		try {
			call.run();
		}
		catch (CollectiveTimeoutException ex) {
			this.checks++;
			return;
		}
		throw new AssertionError("a call for a message that does not come returned");
	}

	private void expectInvalidRank(Runnable call) {
		try {
			call.run();
		}
		catch (InvalidRankException ex) {
			expect("the rank and the size are told", ex.size() == this.size);
			return;
		}
		throw new AssertionError("a rank that does not exist was taken");
	}

	private void expectIllegal(Runnable call) {
		try {
			call.run();
		}
		catch (IllegalArgumentException ex) {
			this.checks++;
			return;
		}
		throw new AssertionError("a mistake was taken");
	}

	private void expect(String what, MemorySegment memory, DataType type, int count, IntToDoubleFunction expected) {
		for (int i = 0; i < count; i++) {
			double wanted = Values.rounded(type, expected.applyAsDouble(i));
			double got = Values.get(memory, type, i);
			if (got != wanted) {
				throw new AssertionError(what + ": rank " + this.rank + " has " + got + " at " + i + ", not " + wanted);
			}
		}
		this.checks++;
	}

	private void expect(String what, boolean holds) {
		if (!holds) {
			throw new AssertionError(what + ": not so on rank " + this.rank + " of " + this.size);
		}
		this.checks++;
	}

	/** A value that is exact in every type. */
	private static double value(int rank, int i) {
		return (rank * 7 + i) % 100;
	}

	/** 1 or 2, so that products are exact. */
	private static double operand(int rank, int i) {
		return 1 + (rank + i) % 2;
	}

	private double reduced(DataType type, ReduceOp op, int i) {
		double result = operand(0, i);
		for (int rank = 1; rank < this.size; rank++) {
			double next = operand(rank, i);
			result = switch (op) {
				case SUM, AVERAGE -> result + next;
				case PRODUCT -> result * next;
				case MIN -> Math.min(result, next);
				case MAX -> Math.max(result, next);
				case BITWISE_AND -> (long) result & (long) next;
				case BITWISE_OR -> (long) result | (long) next;
				case BITWISE_XOR -> (long) result ^ (long) next;
				case LOGICAL_AND, LOGICAL_OR -> 1;
				case LOGICAL_XOR -> 1 - Math.signum(result);
			};
		}
		return Values.rounded(type, (op == ReduceOp.AVERAGE) ? result / this.size : result);
	}

}
