package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.DoubleBinaryOperator;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.GroupState;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.ScriptedGpuRanks;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.HostFallback;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * One of two ranks that share a GPU, as a separate process: runs its part of a scenario
 * and exits with 0 on success.
 */
final class GpuRank {

	private static final long COUNT = 2_051;

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private final ProcessGroup group;

	private final DeviceRuntime runtime;

	private GpuRank(ProcessGroup group, DeviceRuntime runtime) {
		this.group = group;
		this.runtime = runtime;
	}

	public static void main(String[] arguments) {
		String scenario = arguments[0];
		int rank = Integer.parseInt(arguments[1]);
		int code = 0;
		try {
			run(scenario, new RankAssignment(rank, 2, rank, 2, "127.0.0.1", Integer.parseInt(arguments[2])));
			System.out.println("rank " + rank + ": " + scenario + " is as it should be");
		}
		catch (Throwable ex) {
			ex.printStackTrace(System.out);
			code = 1;
		}
		System.exit(code);
	}

	private static void run(String scenario, RankAssignment assignment) {
		if (scenario.equals("halted")) {
			halted(assignment);
			return;
		}
		try (Engine engine = join(assignment)) {
			new GpuRank(engine.world(), CudaDevices.runtime()).runScenario(scenario);
		}
	}

	private static Engine join(RankAssignment assignment) {
		return Engine.join(assignment, EngineSettings.DEFAULTS.withBackend("nccl", null), CollectiveListener.NONE);
	}

	/** Rank 1 halts after it has reported that it can use NCCL. */
	private static void halted(RankAssignment assignment) {
		if (assignment.rank() == 1) {
			ScriptedGpuRanks.join(assignment, new NcclBootstrap(GpuRank::halting, 1));
		}
		long start = System.nanoTime();
		assertThatExceptionOfType(PeerLostException.class).isThrownBy(() -> join(assignment))
			.satisfies((ex) -> assertThat(ex.failure().ranks()).isEqualTo(List.of(1)));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
	}

	/** NCCL, with a creation of a communicator that ends the process. */
	private static NcclLibrary halting() {
		NcclLibrary real = NcclLibrary.load();
		Nccl nccl = (Nccl) Proxy.newProxyInstance(Nccl.class.getClassLoader(), new Class<?>[] { Nccl.class },
				(_, method, arguments) -> {
					if (method.getName().equals("commInitRankConfig")) {
						Runtime.getRuntime().halt(9);
					}
					return method.invoke(real.nccl(), arguments);
				});
		return new NcclLibrary(nccl, real.runtime(), real.availability());
	}

	private void runScenario(String scenario) {
		switch (scenario) {
			case "collectives" -> collectives();
			case "absent" -> absent();
			case "killed" -> killed();
			case "mismatch" -> mismatch();
			case "types" -> types();
			case "subgroups" -> subgroups();
			case "shrunk" -> shrunk();
			default -> throw new IllegalArgumentException("no scenario " + scenario);
		}
	}

	private DeviceCollectives onDevice(Duration limit) {
		return new DeviceCollectives(this.group, this.runtime, new HostFallback(false), CollectiveListener.NONE, limit);
	}

	private void collectives() {
		for (DataType hostType : DataType.values()) {
			DeviceDataType type = DeviceDataType.of(hostType);
			for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVERAGE)) {
				checkReduction(type, op);
			}
			checkDataMovement(type);
			checkInPlace(type);
		}
		for (DataType type : List.of(DataType.INT8, DataType.INT32, DataType.INT64)) {
			checkNegativeAverage(type);
		}
		float[] host = { this.group.rank() + 1 };
		this.group.allReduce(host, ReduceOp.SUM);
		assertThat(host).containsExactly(3);
	}

	/** Types that only NCCL has are reduced on the group's communicator. */
	private void types() {
		NcclGroup nccl = NcclGroup.of(this.group);
		for (DeviceDataType type : DeviceDataType.values()) {
			for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVERAGE)) {
				byte[] elements = GpuElements.of(type, COUNT, (index) -> value(this.group.rank(), index));
				try (DeviceBuffer buffer = GpuElements.upload(this.runtime, type, elements)) {
					nccl.operations().allReduce(DeviceOperands.inPlace(buffer), DeviceReduction.of(op));
					nccl.synchronize();
					requireEqual("all-reduce", type, op, buffer,
							GpuElements.of(type, COUNT, (index) -> reduced(type, op, index)));
				}
			}
		}
	}

	/** A group of both ranks in reverse order, then a group of each rank alone. */
	private void subgroups() {
		for (int size = 2; size > 0; size--) {
			try (ProcessGroup part = Objects
				.requireNonNull(this.group.split((size == 1) ? this.group.rank() : 0, -this.group.rank()))) {
				assertThat(part.worldSize()).isEqualTo(size);
				DeviceCollectives onDevice = new DeviceCollectives(part, this.runtime, new HostFallback(false),
						CollectiveListener.NONE, LIMIT);
				byte[] elements = GpuElements.of(DeviceDataType.FLOAT32, COUNT, (_) -> part.rank() + 1);
				try (DeviceBuffer own = GpuElements.upload(this.runtime, DeviceDataType.FLOAT32, elements);
						DeviceBuffer all = onDevice.allGather(own);
						DeviceBuffer sum = onDevice.allReduce(own, ReduceOp.SUM)) {
					requireEqual("all-gather", DeviceDataType.FLOAT32, null, all, GpuElements.of(DeviceDataType.FLOAT32,
							part.worldSize() * COUNT, (index) -> index / COUNT + 1));
					double expected = (part.worldSize() == 2) ? 1 + 2 : 1;
					requireEqual("all-reduce", DeviceDataType.FLOAT32, ReduceOp.SUM, sum,
							GpuElements.of(DeviceDataType.FLOAT32, COUNT, (_) -> expected));
				}
			}
		}
	}

	/** NCCL's own split and shrink, which return before the new communicator exists. */
	private void shrunk() {
		RankCommunicator both = NcclGroup.of(this.group).communicator();
		try (RankCommunicator reversed = Objects.requireNonNull(both.split(0, -this.group.rank()))) {
			assertThat(reversed.rank()).isEqualTo(1 - this.group.rank());
			assertThat(reversed.worldSize()).isEqualTo(2);
			reversed.barrier();
		}
		assertThat(both.split(-1, 0)).isNull();
		if (this.group.rank() == 0) {
			try (RankCommunicator rest = both.shrink(Set.of(1), false)) {
				assertThat(rest.worldSize()).isOne();
				rest.barrier();
			}
		}
		this.group.barrier();
	}

	private static double value(int rank, long index) {
		return index % 3 + 1 + rank;
	}

	private static double reduced(DeviceDataType type, ReduceOp op, long index) {
		DoubleBinaryOperator combine = switch (op) {
			case SUM -> Double::sum;
			case PRODUCT -> (one, other) -> one * other;
			case MIN -> Math::min;
			case MAX -> Math::max;
			case AVERAGE -> (one, other) -> (one + other) / 2;
			case BITWISE_AND, BITWISE_OR, BITWISE_XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR ->
				throw new IllegalArgumentException("NCCL has no " + op);
		};
		double exact = combine.applyAsDouble(value(0, index), value(1, index));
		return switch (type) {
			case FLOAT32, FLOAT64, FLOAT16, BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2 -> exact;
			case INT8, UINT8, INT32, INT64, UINT32, UINT64 -> Math.floor(exact);
		};
	}

	private void checkReduction(DeviceDataType type, ReduceOp op) {
		int rank = this.group.rank();
		byte[] elements = GpuElements.of(type, 2 * COUNT, (index) -> value(rank, index));
		DeviceCollectives onDevice = onDevice(LIMIT);
		try (DeviceBuffer own = GpuElements.upload(this.runtime, type, elements);
				DeviceBuffer all = onDevice.allReduce(own, op);
				DeviceBuffer root = onDevice.reduce(own, op, 1);
				DeviceBuffer part = onDevice.reduceScatter(own, op)) {
			byte[] expected = GpuElements.of(type, 2 * COUNT, (index) -> reduced(type, op, index));
			requireEqual("all-reduce", type, op, all, expected);
			requireEqual("reduce", type, op, root, (rank == 1) ? expected : elements);
			requireEqual("reduce-scatter", type, op, part,
					GpuElements.of(type, COUNT, (index) -> reduced(type, op, rank * COUNT + index)));
			requireEqual("the input", type, op, own, elements);
		}
	}

	private void checkDataMovement(DeviceDataType type) {
		int rank = this.group.rank();
		DeviceCollectives onDevice = onDevice(LIMIT);
		try (DeviceBuffer own = GpuElements.upload(this.runtime, type,
				GpuElements.of(type, 2 * COUNT, (index) -> value(rank, index)));
				DeviceBuffer ones = onDevice.broadcast(own, 1);
				DeviceBuffer all = onDevice.allGather(own);
				DeviceBuffer gathered = onDevice.gather(own, 0);
				DeviceBuffer exchanged = onDevice.allToAll(own);
				DeviceBuffer part = DeviceBuffer.allocate(this.runtime, 0, COUNT, type)) {
			onDevice.scatter(own, part, 0);
			byte[] both = GpuElements.of(type, 4 * COUNT,
					(index) -> value((int) (index / (2 * COUNT)), index % (2 * COUNT)));
			requireEqual("broadcast", type, null, ones, GpuElements.of(type, 2 * COUNT, (index) -> value(1, index)));
			requireEqual("all-gather", type, null, all, both);
			requireEqual("gather", type, null, gathered, (rank == 0) ? both : new byte[0]);
			requireEqual("all-to-all", type, null, exchanged, GpuElements.of(type, 2 * COUNT,
					(index) -> value((int) (index / COUNT), rank * COUNT + index % COUNT)));
			requireEqual("scatter", type, null, part,
					GpuElements.of(type, COUNT, (index) -> value(0, rank * COUNT + index)));
		}
	}

	private void checkInPlace(DeviceDataType type) {
		int rank = this.group.rank();
		DeviceCollectives onDevice = onDevice(LIMIT);
		byte[] whole = GpuElements.of(type, 2 * COUNT, (index) -> value(rank, index));
		byte[] part = GpuElements.of(type, COUNT, (index) -> value(rank, index));
		byte[] ownParts = GpuElements.of(type, 2 * COUNT, (index) -> value((int) (index / COUNT), index));
		boolean isRoot = rank == 1;
		try (DeviceBuffer all = GpuElements.upload(this.runtime, type, whole);
				DeviceBuffer reduced = GpuElements.upload(this.runtime, type, whole);
				DeviceBuffer gathered = GpuElements.upload(this.runtime, type, isRoot ? whole : part);
				DeviceBuffer scattered = GpuElements.upload(this.runtime, type, isRoot ? whole : part)) {
			onDevice.allGatherInPlace(all);
			requireEqual("all-gather in place", type, null, all, ownParts);
			requireEqual("reduce-scatter in place", type, ReduceOp.SUM,
					onDevice.reduceScatterInPlace(reduced, ReduceOp.SUM),
					GpuElements.of(type, COUNT, (index) -> reduced(type, ReduceOp.SUM, rank * COUNT + index)));
			onDevice.gatherInPlace(gathered, 1);
			requireEqual("gather in place", type, null, gathered, isRoot ? ownParts : part);
			onDevice.scatterInPlace(scattered, 1);
			requireEqual("scatter in place", type, null, scattered,
					isRoot ? whole : GpuElements.of(type, COUNT, (index) -> value(1, index)));
		}
	}

	/** Sums of both signs, all of them odd, against the average in host memory. */
	private void checkNegativeAverage(DataType hostType) {
		DeviceDataType type = DeviceDataType.of(hostType);
		byte[] elements = GpuElements.of(type, COUNT, (index) -> index % 13 - 6 - this.group.rank());
		MemorySegment host = Arena.ofAuto().allocate(elements.length, Long.BYTES);
		host.copyFrom(MemorySegment.ofArray(elements));
		this.group.allReduce(host, hostType, ReduceOp.AVERAGE);
		try (DeviceBuffer buffer = GpuElements.upload(this.runtime, type, elements)) {
			onDevice(LIMIT).allReduceInPlace(buffer, ReduceOp.AVERAGE);
			requireEqual("all-reduce of negative numbers", type, ReduceOp.AVERAGE, buffer,
					host.toArray(ValueLayout.JAVA_BYTE));
		}
	}

	private void requireEqual(String what, DeviceDataType type, ReduceOp op, DeviceBuffer actual, byte[] expected) {
		assertThat(GpuElements.download(this.runtime, actual)).as("%s of %s, %s", what, type, op).isEqualTo(expected);
	}

	private DeviceBuffer some(int count) {
		return GpuElements.upload(this.runtime, DeviceDataType.FLOAT32, new byte[Float.BYTES * count]);
	}

	/** Rank 1 makes no call until it learns that the group is broken. */
	private void absent() {
		if (this.group.rank() == 0) {
			long start = System.nanoTime();
			assertThatExceptionOfType(CollectiveTimeoutException.class)
				.isThrownBy(() -> onDevice(Duration.ofSeconds(3)).allReduceInPlace(some(8), ReduceOp.SUM));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(3),
					Duration.ofSeconds(9));
			return;
		}
		assertThatExceptionOfType(CollectiveTimeoutException.class)
			.isThrownBy(() -> this.group.receive(Arena.ofAuto().allocate(4), DataType.FLOAT32, 0, 0));
	}

	private void killed() {
		DeviceCollectives onDevice = onDevice(LIMIT);
		onDevice.allReduceInPlace(some(8), ReduceOp.SUM);
		if (this.group.rank() == 1) {
			Runtime.getRuntime().halt(9);
		}
		assertThatExceptionOfType(PeerLostException.class)
			.isThrownBy(() -> onDevice.allReduceInPlace(some(1 << 20), ReduceOp.SUM))
			.satisfies((ex) -> assertThat(ex.failure().ranks()).isEqualTo(List.of(1)));
	}

	/** NCCL may complete mismatched calls; rank 0's verdict then follows. */
	private void mismatch() {
		long start = System.nanoTime();
		assertThatExceptionOfType(CollectiveMismatchException.class).isThrownBy(() -> {
			onDevice(LIMIT).allReduceInPlace(some(8 + this.group.rank()), ReduceOp.SUM);
			IdleStrategy.await(() -> this.group.state() == GroupState.BROKEN, Deadline.after(Duration.ofSeconds(1)));
			this.group.barrier();
		}).withMessageContaining("count 8").withMessageContaining("count 9");
		Duration told = Duration.ofNanos(System.nanoTime() - start);
		System.out.println("told after " + told.toMillis() + " ms");
		assertThat(told).isLessThan(Duration.ofSeconds(1));
	}

}
