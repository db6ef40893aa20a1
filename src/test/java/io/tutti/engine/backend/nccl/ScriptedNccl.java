package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.engine.backend.nccl.NcclAvailability.State;
import io.tutti.engine.spi.NativeMemory;

/**
 * A simulated NCCL whose ranks are threads of one process: float32 collectives on host
 * memory, each executed once every rank has issued it. Returns an error or blocks as a
 * test's script requires.
 */
final class ScriptedNccl implements Nccl {

	private static final int OK = NcclResult.SUCCESS.ordinal();

	private static final int IN_PROGRESS = NcclResult.IN_PROGRESS.ordinal();

	/** The communicators with one unique id. */
	private static final class World {

		final Map<Integer, Long> members = new ConcurrentHashMap<>();

		final Map<Integer, Map<Integer, Operation>> rounds = new ConcurrentHashMap<>();

		final int size;

		World(int size) {
			this.size = size;
		}

	}

	private static final class Member {

		final World world;

		final int rank;

		int round;

		volatile boolean ended;

		volatile int asyncError;

		/**
		 * Remaining steps of a derivation, each of which is in progress during one query.
		 */
		final Queue<Runnable> derivation = new ConcurrentLinkedQueue<>();

		Member(World world, int rank) {
			this.world = world;
			this.rank = rank;
		}

	}

	private interface Combination {

		void of(int rank, Operation own, Map<Integer, Operation> all);

	}

	/** Operations that differ never complete, as on a GPU. */
	private record Operation(String call, long send, long receive, long count, Combination combination) {
	}

	private final HostDevices devices;

	private final Map<String, World> worlds = new ConcurrentHashMap<>();

	private final Map<Long, Member> members = new ConcurrentHashMap<>();

	private final AtomicLong next = new AtomicLong(0x1000);

	private final Map<String, Deque<Integer>> script = new ConcurrentHashMap<>();

	private final Map<String, CountDownLatch> stuck = new ConcurrentHashMap<>();

	final List<String> calls = Collections.synchronizedList(new ArrayList<>());

	final Map<Integer, Float> factors = new ConcurrentHashMap<>();

	/** Type codes of the collectives, in order. */
	final List<Integer> types = Collections.synchronizedList(new ArrayList<>());

	volatile String lastError = "";

	/** Asynchronous error of a communicator during its creation. */
	volatile NcclResult failsWhenMade = NcclResult.SUCCESS;

	/** Asynchronous error of a parent after the derivation of another communicator. */
	volatile NcclResult failsWhenDerived = NcclResult.SUCCESS;

	/** Whether mismatched calls complete. */
	volatile boolean forgiving;

	private final ThreadLocal<Integer> depth = ThreadLocal.withInitial(() -> 0);

	ScriptedNccl(HostDevices devices) {
		this.devices = devices;
	}

	/** The next call with a name returns a result; later calls succeed. */
	ScriptedNccl answers(String call, NcclResult result) {
		this.script.computeIfAbsent(call, (_) -> new ConcurrentLinkedDeque<>()).add(result.ordinal());
		return this;
	}

	/** Every call with a name blocks until the latch is released. */
	ScriptedNccl blocks(String call, CountDownLatch latch) {
		this.stuck.put(call, latch);
		return this;
	}

	/** Sets the asynchronous error of a communicator. */
	void fail(long communicator, NcclResult result) {
		this.members.get(communicator).asyncError = result.ordinal();
	}

	NcclLibrary library() {
		return library(EnumSet.allOf(NcclFunction.class));
	}

	NcclLibrary library(Set<NcclFunction> functions) {
		return new NcclLibrary(this, this.devices,
				new NcclAvailability(State.AVAILABLE, "scripted", this.devices.deviceCount(), 22903, functions));
	}

	long count(String call) {
		return this.calls.stream().filter(call::equals).count();
	}

	private int answer(String call) {
		this.calls.add(call);
		CountDownLatch latch = this.stuck.get(call);
		if (latch != null) {
			try {
				latch.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
		Deque<Integer> answers = this.script.get(call);
		Integer scripted = (answers != null) ? answers.poll() : null;
		return (scripted != null) ? scripted : OK;
	}

	@Override
	public int getUniqueId(byte[] id) {
		long made = this.next.incrementAndGet();
		for (int index = 0; index < Long.BYTES; index++) {
			id[index] = (byte) (made >>> 8 * index);
		}
		return answer("getUniqueId");
	}

	@Override
	public int commInitRankConfig(long slot, int worldSize, byte[] id, int rank) {
		int answer = answer("commInitRankConfig");
		if (answer != OK) {
			return answer;
		}
		World world = this.worlds.computeIfAbsent(new String(id, StandardCharsets.ISO_8859_1),
				(_) -> new World(worldSize));
		NativeMemory.putLong(slot, join(world, rank));
		return IN_PROGRESS;
	}

	private long join(World world, int rank) {
		long handle = this.next.incrementAndGet();
		Member member = new Member(world, rank);
		member.asyncError = this.failsWhenMade.ordinal();
		this.members.put(handle, member);
		world.members.put(rank, handle);
		return handle;
	}

	@Override
	public int commInitAll(long slots, int[] chosen) {
		World world = new World(chosen.length);
		for (int rank = 0; rank < chosen.length; rank++) {
			NativeMemory.putLong(slots + (long) rank * Long.BYTES, join(world, rank));
		}
		return answer("commInitAll");
	}

	@Override
	public int commSplit(long communicator, int color, int key, long slot) {
		Member member = this.members.get(communicator);
		World part = this.worlds.computeIfAbsent("part " + System.identityHashCode(member.world) + color,
				(_) -> new World(1));
		derive(member, slot, (color >= 0) ? join(part, 0) : 0);
		return answer("commSplit");
	}

	@Override
	public int commShrink(long communicator, int[] excluded, long slot, int flags) {
		derive(this.members.get(communicator), slot, join(new World(1), 0));
		return answer("commShrink" + flags);
	}

	/**
	 * As NCCL: the call succeeds, and the parent is in progress until the new
	 * communicator is initialized. Its handle is written before the result, also if that
	 * is an error. A parent that had failed before keeps its error.
	 */
	private void derive(Member parent, long slot, long child) {
		parent.derivation.add(() -> NativeMemory.putLong(slot, child));
		parent.derivation.add(() -> {
			if (parent.asyncError == OK) {
				parent.asyncError = this.failsWhenDerived.ordinal();
			}
		});
	}

	@Override
	public int commFinalize(long communicator) {
		return answer("commFinalize");
	}

	@Override
	public int commDestroy(long communicator) {
		this.members.get(communicator).ended = true;
		return answer("commDestroy");
	}

	@Override
	public int commAbort(long communicator) {
		if (communicator == 0) {
			return OK;
		}
		this.members.get(communicator).ended = true;
		return answer("commAbort");
	}

	@Override
	public int commGetAsyncError(long communicator, int[] error) {
		Member member = this.members.get(communicator);
		if (member.ended) {
			throw new AssertionError("a communicator was used after its end");
		}
		Runnable step = member.derivation.poll();
		if (step != null) {
			step.run();
			error[0] = IN_PROGRESS;
			return OK;
		}
		boolean formed = member.world.members.size() == member.world.size;
		error[0] = (member.asyncError != OK) ? member.asyncError : formed ? OK : IN_PROGRESS;
		return OK;
	}

	@Override
	public int commUserRank(long communicator, int[] rank) {
		rank[0] = this.members.get(communicator).rank;
		return OK;
	}

	@Override
	public int commCount(long communicator, int[] worldSize) {
		worldSize[0] = this.members.get(communicator).world.size;
		return OK;
	}

	@Override
	public int commRegister(long communicator, long address, long bytes, long[] registration) {
		registration[0] = address + 1;
		return answer("commRegister");
	}

	@Override
	public int commDeregister(long communicator, long registration) {
		return answer("commDeregister");
	}

	@Override
	public int memAlloc(long[] address, long bytes) {
		address[0] = this.devices.allocate(bytes);
		return answer("memAlloc");
	}

	@Override
	public int memFree(long address) {
		this.devices.free(address);
		return answer("memFree");
	}

	@Override
	public int redOpCreatePreMulSum(int[] op, byte[] scalar, int type, long communicator) {
		op[0] = 100 + this.members.get(communicator).rank;
		this.factors.put(op[0], ByteBuffer.wrap(scalar).order(ByteOrder.nativeOrder()).getFloat());
		return answer("redOpCreatePreMulSum");
	}

	@Override
	public int redOpDestroy(int op, long communicator) {
		return answer("redOpDestroy");
	}

	@Override
	public int enqueue(NcclCollective call, long communicator) {
		long bytes = 4 * call.count();
		this.types.add(call.type());
		return switch (call.collective()) {
			case ALL_REDUCE -> issue("allReduce", call, communicator,
					(_, own, all) -> reduceInto(own.receive(), all, 0, call.count(), call.op()));
			case BROADCAST -> issue("broadcast", call, communicator,
					(_, own, all) -> NativeMemory.copy(all.get(call.root()).send(), own.receive(), bytes));
			case REDUCE -> issue("reduce", call, communicator, (rank, own, all) -> {
				if (rank == call.root()) {
					reduceInto(own.receive(), all, 0, call.count(), call.op());
				}
			});
			case ALL_GATHER -> issue("allGather", call, communicator, (_, own, all) -> all
				.forEach((rank, other) -> NativeMemory.copy(other.send(), own.receive() + bytes * rank, bytes)));
			case REDUCE_SCATTER -> issue("reduceScatter", call, communicator,
					(rank, own, all) -> reduceInto(own.receive(), all, rank * call.count(), call.count(), call.op()));
			case GATHER -> issue("gather", call, communicator, (rank, own, all) -> {
				if (rank == call.root()) {
					all.forEach((peer, other) -> NativeMemory.copy(other.send(), own.receive() + bytes * peer, bytes));
				}
			});
			case SCATTER -> issue("scatter", call, communicator, (rank, own, all) -> NativeMemory
				.copy(all.get(call.root()).send() + bytes * rank, own.receive(), bytes));
			case ALL_TO_ALL -> issue("alltoAll", call, communicator, (rank, own, all) -> all.forEach((peer,
					other) -> NativeMemory.copy(other.send() + bytes * rank, own.receive() + bytes * peer, bytes)));
			default -> throw new AssertionError("NCCL has no " + call.collective());
		};
	}

	private final Map<String, ConcurrentLinkedQueue<float[]>> messages = new ConcurrentHashMap<>();

	@Override
	public int send(long send, long count, int type, int peer, long communicator, long stream) {
		Member member = this.members.get(communicator);
		this.devices.queue(stream, () -> {
			between(member, member.rank, peer).add(HostDevices.read(send, (int) count));
			return true;
		});
		return answer("send");
	}

	@Override
	public int recv(long receive, long count, int type, int peer, long communicator, long stream) {
		Member member = this.members.get(communicator);
		boolean together = this.depth.get() > 0;
		ConcurrentLinkedQueue<float[]> way = between(member, peer, member.rank);
		Runnable queued = () -> this.devices.queue(stream, () -> {
			float[] message = way.poll();
			if (message == null) {
				return false;
			}
			HostDevices.write(receive, message);
			return true;
		});
		if (together) {
			this.received.get().add(queued);
		}
		else {
			queued.run();
		}
		return answer("recv");
	}

	private final ThreadLocal<List<Runnable>> received = ThreadLocal.withInitial(ArrayList::new);

	private ConcurrentLinkedQueue<float[]> between(Member member, int from, int to) {
		return this.messages.computeIfAbsent(System.identityHashCode(member.world) + ":" + from + ":" + to,
				(_) -> new ConcurrentLinkedQueue<>());
	}

	private int issue(String call, NcclCollective issued, long communicator, Combination combination) {
		long count = issued.count();
		Member member = this.members.get(communicator);
		if (member.ended) {
			throw new AssertionError(call + " after the communicator's end");
		}
		if (!member.derivation.isEmpty()) {
			return NcclResult.INVALID_ARGUMENT.ordinal();
		}
		int answer = answer(call);
		int round = member.round++;
		Map<Integer, Operation> all = member.world.rounds.computeIfAbsent(round, (_) -> new ConcurrentHashMap<>());
		Operation own = new Operation(call, issued.send(), issued.receive(), count, combination);
		Map<Integer, Operation> results = new ConcurrentHashMap<>();
		all.put(member.rank, snapshot(own, call, member));
		this.devices.queue(issued.stream(), () -> {
			if (all.size() < member.world.size || !this.forgiving && all.values()
				.stream()
				.anyMatch((other) -> !other.call().equals(call) || other.count() != count)) {
				return false;
			}
			results.putAll(all);
			own.combination().of(member.rank, own, results);
			return true;
		});
		return answer;
	}

	/**
	 * Copies the operand when the call is issued, since an in-place result may replace
	 * it.
	 */
	private Operation snapshot(Operation own, String call, Member member) {
		long elements = switch (call) {
			case "reduceScatter", "alltoAll" -> own.count() * member.world.size;
			case "scatter" -> (own.send() != 0) ? own.count() * member.world.size : 0;
			default -> (own.send() != 0) ? own.count() : 0;
		};
		long copy = Arena.global().allocate(Math.max(1, 4 * elements), 8).address();
		NativeMemory.copy(own.send(), copy, 4 * elements);
		return new Operation(call, copy, own.receive(), own.count(), own.combination());
	}

	private void reduceInto(long target, Map<Integer, Operation> all, long first, long count, int op) {
		for (long index = 0; index < count; index++) {
			float result = Float.NaN;
			for (int rank = 0; rank < all.size(); rank++) {
				float value = NativeMemory.getFloat(all.get(rank).send() + 4 * (first + index));
				float scaled = (op >= 100) ? value * this.factors.get(100 + rank) : value;
				result = (rank == 0) ? scaled : combined(result, scaled, op);
			}
			NativeMemory.putFloat(target + 4 * index, (op == 4) ? result / all.size() : result);
		}
	}

	private static float combined(float left, float right, int op) {
		return switch (op) {
			case 1 -> left * right;
			case 2 -> Math.max(left, right);
			case 3 -> Math.min(left, right);
			default -> left + right;
		};
	}

	@Override
	public int groupStart() {
		this.depth.set(this.depth.get() + 1);
		return answer("groupStart");
	}

	@Override
	public int groupEnd() {
		this.depth.set(this.depth.get() - 1);
		this.received.get().forEach(Runnable::run);
		this.received.get().clear();
		return answer("groupEnd");
	}

	@Override
	public String getLastError(long communicator) {
		return this.lastError;
	}

}
