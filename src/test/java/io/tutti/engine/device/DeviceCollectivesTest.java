package io.tutti.engine.device;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.CollectiveMismatchException;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.backend.nccl.HostDevices;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Dispatch of calls on device memory, and staging through host memory.
 */
@Timeout(120)
class DeviceCollectivesTest {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final HostFallback ALLOWED = new HostFallback(true);

	private static final Duration SOON = Duration.ofSeconds(15);

	/** The largest chunk of an all-reduce. */
	private static final int CHUNK = (int) (HostStaging.CHUNK_BYTES / Float.BYTES);

	/** Slightly more than one chunk, and than two where a chunk has a part per rank. */
	private static final int SEVERAL_CHUNKS = CHUNK + 3;

	private final SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS);

	private final HostDevices devices = new HostDevices(2);

	private final List<String> warnings = new CopyOnWriteArrayList<>();

	private final CollectiveListener listener = new CollectiveListener() {
		@Override
		public void warn(String message) {
			DeviceCollectivesTest.this.warnings.add(message);
		}
	};

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void anUnsupportedCallIsRejectedWithBothRemediesBeforeAnythingRuns() {
		try (DeviceBuffer buffer = buffer(0, 4)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> collectives(0, new HostFallback(false)).allReduce(buffer, ReduceOp.SUM))
				.withMessage("rank 0 of group world: all-reduce: the group's backend simulated does not support device "
						+ "memory, got 4 × float32 on device 0. Start with the profile nccl, or allow the way through host memory with "
						+ "tutti.gpu.host-fallback=true or TUTTI_ENABLE_GPU_FALLBACK=1");
			assertThat(this.devices.allocations()).isOne();
			assertThat(this.world.group(0).lastEntered()).isEqualTo(-1);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aRootOutOfRangeIsRejectedFirst(boolean fallback) {
		DeviceCollectives collectives = collectives(0, new HostFallback(fallback));
		try (DeviceBuffer buffer = buffer(0, 4)) {
			for (Runnable call : List.<Runnable>of(() -> collectives.broadcast(buffer, 2),
					() -> collectives.broadcastInPlace(buffer, 2), () -> collectives.reduce(buffer, ReduceOp.SUM, 2),
					() -> collectives.gather(buffer, 2), () -> collectives.scatter(buffer, buffer, 2))) {
				assertThatIllegalArgumentException().isThrownBy(call::run)
					.withMessageStartingWith("rank 0 of group world: ")
					.withMessageEndingWith(": root must be in 0..1, got 2");
			}
		}
		assertThat(this.warnings).isEmpty();
	}

	@Test
	void anUnsupportedTypeIsRejected() {
		try (DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, 0, 4, DeviceDataType.FLOAT8_E4M3)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> collectives(0, ALLOWED).allReduce(buffer, ReduceOp.SUM))
				.withMessageContaining("rank 0 of group world: all-reduce: groups have no float8-e4m3");
		}
	}

	@Test
	void aCountThatIsNotAMultipleOfTheWorldSizeIsRejected() {
		try (DeviceBuffer buffer = buffer(0, 3)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> collectives(0, ALLOWED).reduceScatter(buffer, ReduceOp.SUM))
				.withMessage(
						"rank 0 of group world: reduce-scatter: count must be a multiple of 2 (one part per rank), "
								+ "got 3");
		}
	}

	@Test
	void aScatterBetweenTypesOrDevicesIsRejected() {
		try (DeviceBuffer send = buffer(0, 8);
				DeviceBuffer wider = DeviceBuffer.allocate(this.devices, 0, 4, DeviceDataType.FLOAT64);
				DeviceBuffer elsewhere = DeviceBuffer.wrap(1, send.address(), 4, DeviceDataType.FLOAT32)) {
			for (DeviceBuffer receive : List.of(wider, elsewhere)) {
				assertThatIllegalArgumentException().isThrownBy(() -> collectives(0, ALLOWED).scatter(send, receive, 0))
					.withMessage(
							"rank 0 of group world: scatter: send and receive buffer must be of one type on one device, got "
									+ send + " and " + receive);
			}
		}
		assertThat(this.world.group(0).lastEntered()).isEqualTo(-1);
	}

	@Test
	void eachStagedCallWarnsOnceWithItsNameAndTheSetting() throws Exception {
		RankThreads.run(2, LONG, (rank) -> {
			try (DeviceBuffer buffer = buffer(rank, 4)) {
				DeviceCollectives collectives = new DeviceCollectives(this.world.group(rank), this.devices, ALLOWED,
						(rank == 0) ? this.listener : CollectiveListener.NONE, LONG);
				collectives.allReduceInPlace(buffer, ReduceOp.SUM);
				collectives.allReduce(buffer, ReduceOp.SUM).close();
				collectives.broadcastInPlace(buffer, 0);
			}
			return null;
		});
		assertThat(this.warnings).hasSize(3)
			.allSatisfy((warning) -> assertThat(warning)
				.contains("of 4 × float32 on device 0 goes through host memory, since group world runs on simulated")
				.contains("unset tutti.gpu.host-fallback and TUTTI_ENABLE_GPU_FALLBACK"));
		assertThat(this.warnings.getFirst()).startsWith("all-reduce");
		assertThat(this.warnings.getLast()).startsWith("broadcast");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 7, SEVERAL_CHUNKS })
	void everyCollectiveWorksThroughHostMemory(int count) throws Exception {
		RankThreads.run(2, LONG, (rank) -> {
			DeviceCollectives collectives = collectives(rank, ALLOWED);
			int other = 1 - rank;
			try (DeviceBuffer own = buffer(rank, count);
					DeviceBuffer sum = collectives.allReduce(own, ReduceOp.SUM);
					DeviceBuffer ones = collectives.broadcast(own, 1);
					DeviceBuffer reduced = collectives.reduce(own, ReduceOp.PRODUCT, 1);
					DeviceBuffer all = collectives.allGather(own);
					DeviceBuffer gathered = collectives.gather(own, 0);
					DeviceBuffer part = collectives.reduceScatter(all, ReduceOp.SUM);
					DeviceBuffer exchanged = collectives.allToAll(all);
					DeviceBuffer scattered = buffer(rank, count)) {
				collectives.scatter(all, scattered, 0);
				for (int index = 0; index < count; index += Math.max(1, count / 50)) {
					assertThat(at(own, index)).isEqualTo(value(rank, index));
					assertThat(at(sum, index)).isEqualTo(value(0, index) + value(1, index));
					assertThat(at(ones, index)).isEqualTo(value(1, index));
					assertThat(at(reduced, index))
						.isEqualTo((rank == 1) ? value(0, index) * value(1, index) : value(0, index));
					assertThat(at(all, count + index)).isEqualTo(value(1, index));
					assertThat(at(part, index)).isEqualTo(2 * value(rank, index));
					assertThat(at(exchanged, other * count + index)).isEqualTo(value(rank, index));
					assertThat(at(scattered, index)).isEqualTo(value(rank, index));
				}
				assertThat(gathered.count()).isEqualTo((rank == 0) ? 2L * count : 0);
				if (rank == 0 && count > 0) {
					assertThat(at(gathered, 2 * count - 1)).isEqualTo(value(1, count - 1));
				}
			}
			return null;
		});
		this.world.close();
		assertThat(this.devices.allocations()).isZero();
		assertThat(this.devices.currentDevice()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 7, SEVERAL_CHUNKS })
	void everyInPlaceCollectiveWorksThroughHostMemory(int count) throws Exception {
		RankThreads.run(2, LONG, (rank) -> {
			InPlaceCalls.check(this.devices, collectives(rank, ALLOWED), rank, 2, count);
			return null;
		});
		this.world.close();
		assertThat(this.devices.allocations()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 7, SEVERAL_CHUNKS })
	void theAverageOfTwoRanksGoesThroughHostMemory(int count) throws Exception {
		RankThreads.run(2, LONG, (rank) -> {
			try (DeviceBuffer own = buffer(rank, count);
					DeviceBuffer mean = collectives(rank, ALLOWED).allReduce(own, ReduceOp.AVERAGE);
					DeviceBuffer all = collectives(rank, ALLOWED).allGather(own);
					DeviceBuffer part = collectives(rank, ALLOWED).reduceScatter(all, ReduceOp.AVERAGE)) {
				for (int index = 0; index < count; index += Math.max(1, count / 50)) {
					assertThat(at(mean, index)).isEqualTo((value(0, index) + value(1, index)) / 2);
					assertThat(at(part, index)).isEqualTo(value(rank, index));
				}
			}
			return null;
		});
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, SEVERAL_CHUNKS })
	void aSingleRankWorksThroughHostMemory(int count) {
		try (SimulatedWorld alone = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			DeviceCollectives collectives = new DeviceCollectives(alone.group(0), this.devices, ALLOWED, this.listener,
					LONG);
			try (DeviceBuffer own = buffer(0, count);
					DeviceBuffer mean = collectives.allReduce(own, ReduceOp.AVERAGE);
					DeviceBuffer copy = collectives.broadcast(own, 0);
					DeviceBuffer all = collectives.allGather(own);
					DeviceBuffer part = collectives.reduceScatter(own, ReduceOp.SUM);
					DeviceBuffer exchanged = collectives.allToAll(own);
					DeviceBuffer gathered = collectives.gather(own, 0)) {
				float[] expected = HostDevices.read(own.address(), count);
				for (DeviceBuffer result : List.of(mean, copy, all, part, exchanged, gathered)) {
					assertThat(result.count()).isEqualTo(count);
					assertThat(Arrays.equals(HostDevices.read(result.address(), count), expected)).isTrue();
				}
			}
		}
		assertThat(this.warnings).hasSize(6);
		assertThat(this.devices.allocations()).isZero();
	}

	/** Each chunk of rank 0's call has the size of a call of rank 1. */
	@Test
	void aCallOfSeveralChunksDoesNotMixWithCallsOfOneChunk() throws Exception {
		assertThat(RankThreads.outcomes(2, LONG, (rank) -> {
			for (int count : (rank == 0) ? new int[] { 2 * CHUNK } : new int[] { CHUNK, CHUNK }) {
				try (DeviceBuffer own = buffer(rank, count)) {
					collectives(rank, ALLOWED).allReduceInPlace(own, ReduceOp.SUM);
				}
			}
			return null;
		})).allSatisfy(
				(outcome) -> assertThat(outcome.failure()).isInstanceOfSatisfying(CollectiveMismatchException.class,
						(ex) -> assertThat(ex).hasMessageContaining("all-gather").hasMessageContaining("all-reduce")));
	}

	@Test
	void callsOfSeveralChunksAndOfDifferentSizesAreAMismatch() throws Exception {
		assertThat(RankThreads.outcomes(2, LONG, (rank) -> {
			for (int count : (rank == 0) ? new int[] { 4 * CHUNK } : new int[] { 2 * CHUNK, 2 * CHUNK }) {
				try (DeviceBuffer own = buffer(rank, count)) {
					collectives(rank, ALLOWED).allReduceInPlace(own, ReduceOp.SUM);
				}
			}
			return null;
		})).allSatisfy(
				(outcome) -> assertThat(outcome.failure()).isInstanceOfSatisfying(CollectiveException.class, (ex) -> {
					assertThat(ex.exitCode()).isEqualTo(ExitCode.MISMATCH);
					assertThat(ex).hasMessageContaining("all-reduce: ")
						.hasMessageContaining("rank 0 passes " + 16L * CHUNK + " bytes")
						.hasMessageContaining("rank 1 passes " + 8L * CHUNK + " bytes");
				}));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aScatterRejectsAnOverlapOtherThanThisRanksPart(boolean fallback) throws Exception {
		try (DeviceBuffer send = buffer(0, 8); DeviceBuffer other = buffer(1, 4)) {
			DeviceCollectives collectives = collectives(0, new HostFallback(fallback));
			for (DeviceBuffer receive : List.of(send.part(4, 4), send.part(1, 4))) {
				assertThatIllegalArgumentException().isThrownBy(() -> collectives.scatter(send, receive, 0))
					.withMessageContaining("send and receive buffers must not overlap, unless the receive buffer is "
							+ "this rank's part of the send buffer, from element 0");
			}
			assertThat(this.world.group(0).lastEntered()).isEqualTo(-1);
			RankThreads.run(2, LONG, (rank) -> {
				collectives(rank, ALLOWED).scatter(send, (rank == 0) ? send.part(0, 4) : other, 0);
				return null;
			});
			assertThat(at(other, 0)).isEqualTo(value(0, 4));
		}
	}

	/** On a thread of its own, since the common pool may have one only. */
	private static CompletableFuture<Void> started(Runnable call) {
		return CompletableFuture.runAsync(call, OwnThread.EXECUTOR);
	}

	/** The streams of the staging, or the default stream. */
	private void stall(boolean copies) {
		if (copies) {
			this.devices.stallStreams();
		}
		else {
			this.devices.stall();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aGroupThatClosesEndsTheWaitOfACallForItsDevice(boolean copies) {
		stall(copies);
		try (DeviceBuffer own = buffer(0, 4)) {
			CompletableFuture<Void> call = started(() -> collectives(0, ALLOWED).allReduceInPlace(own, ReduceOp.SUM));
			Awaitility.await().atMost(LONG).until(() -> !this.warnings.isEmpty() || !copies);
			assertThat(started(() -> this.world.group(0).close())).succeedsWithin(SOON);
			assertThat(call).failsWithin(SOON)
				.withThrowableThat()
				.havingCause()
				.isInstanceOfAny(CollectiveException.class, IllegalStateException.class)
				.withMessageContaining("all-reduce");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aFailureOfTheGroupEndsTheWaitOfACallForItsDevice(boolean copies) {
		stall(copies);
		try (DeviceBuffer own = buffer(0, 4)) {
			CompletableFuture<Void> call = started(() -> collectives(0, ALLOWED).allReduceInPlace(own, ReduceOp.SUM));
			Awaitility.await().atMost(LONG).until(() -> !this.warnings.isEmpty() || !copies);
			this.world.group(1).abort("no more");
			assertThat(call).failsWithin(SOON)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(CollectiveException.class)
				.withMessageContaining("no more");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aDeadlineThatPassesInTheWaitForTheDeviceIsNotALostRank(boolean copies) {
		stall(copies);
		try (DeviceBuffer own = buffer(0, 4)) {
			DeviceCollectives collectives = new DeviceCollectives(this.world.group(0), this.devices, ALLOWED,
					this.listener, Duration.ofMillis(200));
			assertThatExceptionOfType(CollectiveException.class)
				.isThrownBy(() -> collectives.allReduceInPlace(own, ReduceOp.SUM))
				.withMessageContaining("all-reduce: ")
				.withMessageContaining(" within 200 ms")
				.satisfies((ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.DEADLINE_PASSED));
		}
	}

	@Test
	void pinnedMemoryIsKeptWhileACopyMayUseIt() {
		this.devices.stallStreams();
		try (DeviceBuffer own = buffer(0, 4)) {
			DeviceCollectives collectives = new DeviceCollectives(this.world.group(0), this.devices, ALLOWED,
					this.listener, Duration.ofMillis(200));
			assertThatExceptionOfType(CollectiveException.class)
				.isThrownBy(() -> collectives.allReduceInPlace(own, ReduceOp.SUM));
			this.world.close();
			assertThat(this.devices.pinned()).isOne();
			assertThat(this.warnings)
				.filteredOn((warning) -> warning.contains("16 bytes of pinned memory are not freed"))
				.hasSize(1);
		}
	}

	/** Rank 1 joins the first chunk's collective only after rank 0 copies the second. */
	@Test
	void theNextChunkIsCopiedWhileTheCollectiveRuns() throws Exception {
		RankThreads.run(2, LONG, (rank) -> {
			try (DeviceBuffer own = buffer(rank, SEVERAL_CHUNKS)) {
				if (rank == 1) {
					Awaitility.await().atMost(LONG).until(() -> this.devices.copies() >= 2);
				}
				collectives(rank, ALLOWED).allReduceInPlace(own, ReduceOp.SUM);
				assertThat(at(own, SEVERAL_CHUNKS - 1))
					.isEqualTo(value(0, SEVERAL_CHUNKS - 1) + value(1, SEVERAL_CHUNKS - 1));
			}
			return null;
		});
	}

	@Test
	void inPlaceCallsAreCheckedLikeOtherCalls() {
		DeviceCollectives collectives = collectives(0, ALLOWED);
		try (DeviceBuffer three = buffer(0, 3)) {
			for (Runnable call : List.<Runnable>of(() -> collectives.allGatherInPlace(three),
					() -> collectives.reduceScatterInPlace(three, ReduceOp.SUM),
					() -> collectives.gatherInPlace(three, 0), () -> collectives.scatterInPlace(three, 0))) {
				assertThatIllegalArgumentException().isThrownBy(call::run)
					.withMessageStartingWith("rank 0 of group world: ")
					.withMessageEndingWith(": count must be a multiple of 2 (one part per rank), got 3");
			}
			for (Runnable call : List.<Runnable>of(() -> collectives.reduceInPlace(three, ReduceOp.SUM, -1),
					() -> collectives.gatherInPlace(three, -1), () -> collectives.scatterInPlace(three, -1))) {
				assertThatIllegalArgumentException().isThrownBy(call::run)
					.withMessageStartingWith("rank 0 of group world: ")
					.withMessageEndingWith(": root must be in 0..1, got -1");
			}
		}
		DeviceCollectives without = collectives(0, new HostFallback(false));
		try (DeviceBuffer two = buffer(0, 2)) {
			for (Runnable call : List.<Runnable>of(() -> without.allGatherInPlace(two),
					() -> without.reduceScatterInPlace(two, ReduceOp.SUM), () -> without.gatherInPlace(two, 0),
					() -> without.scatterInPlace(two, 0), () -> without.reduceInPlace(two, ReduceOp.SUM, 0))) {
				assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(call::run)
					.withMessageContaining("TUTTI_ENABLE_GPU_FALLBACK=1");
			}
		}
		assertThat(this.world.group(0).lastEntered()).isEqualTo(-1);
		assertThat(this.warnings).isEmpty();
	}

	@Test
	void aPartSharesMemoryAndClosesWithItsWhole() {
		DeviceBuffer whole = buffer(0, 6);
		DeviceBuffer part = whole.part(2, 3);
		assertThat(part.address()).isEqualTo(whole.address() + 8);
		assertThat(at(part, 0)).isEqualTo(at(whole, 2));
		part.close();
		assertThat(whole.part(6, 0).count()).isZero();
		assertThatIllegalArgumentException().isThrownBy(() -> whole.part(4, 3))
			.withMessage("a part must lie in 0..6, got 3 elements from 4");
		assertThatIllegalArgumentException().isThrownBy(() -> whole.part(1, Long.MAX_VALUE));
		DeviceBuffer other = whole.part(0, 1);
		whole.close();
		assertThatIllegalStateException().isThrownBy(other::address);
	}

	@Test
	void aBrokenGroupFailsTheCallAndFreesAllMemory() throws Exception {
		List<RankThreads.Outcome<Object>> outcomes = RankThreads.outcomes(2, LONG, (rank) -> {
			try (DeviceBuffer buffer = buffer(rank, SEVERAL_CHUNKS)) {
				if (rank == 1) {
					this.world.group(1).abort("no more");
					throw CollectiveException.of(1, 4, this.world.group(1).failure(), null);
				}
				collectives(0, ALLOWED).allReduce(buffer, ReduceOp.SUM).close();
			}
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveException.class)
				.hasMessageContaining("no more"));
		assertThat(this.devices.allocations()).isZero();
	}

	@Test
	void laterCallsReusePinnedMemoryUntilTheGroupCloses() throws Exception {
		int[] made = new int[1];
		RankThreads.run(2, LONG, (rank) -> {
			DeviceCollectives collectives = collectives(rank, ALLOWED);
			try (DeviceBuffer small = buffer(rank, 5); DeviceBuffer large = buffer(rank, SEVERAL_CHUNKS)) {
				collectives.allReduceInPlace(small, ReduceOp.SUM);
				collectives.allReduceInPlace(large, ReduceOp.SUM);
				collectives.allGather(large).close();
				this.world.group(rank).barrier();
				if (rank == 0) {
					made[0] = this.devices.pinnedAllocations();
				}
				this.world.group(rank).barrier();
				for (int call = 0; call < 20; call++) {
					collectives.allReduceInPlace(small, ReduceOp.MAX);
					collectives.allReduceInPlace(large, ReduceOp.MAX);
					collectives.allGather(small).close();
				}
			}
			return null;
		});
		assertThat(this.devices.pinnedAllocations()).isEqualTo(made[0]);
		assertThat(this.devices.pinned()).isEqualTo(2 * 4);
		this.world.close();
		assertThat(this.devices.pinned()).isZero();
	}

	/** Also of views with another label and another limit, and from several threads. */
	@Test
	void allObjectsOfOneGroupShareItsPinnedMemory() throws Exception {
		try (SimulatedWorld alone = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			ProcessGroup group = alone.group(0);
			List<ProcessGroup> views = List.of(group, group, group.withLabel("gradients"), group.withTimeout(LONG));
			RankThreads.run(views.size(), LONG, (view) -> {
				DeviceCollectives collectives = new DeviceCollectives(views.get(view), this.devices, ALLOWED,
						CollectiveListener.NONE, LONG);
				try (DeviceBuffer own = buffer(0, SEVERAL_CHUNKS)) {
					collectives.allReduceInPlace(own, ReduceOp.SUM);
				}
				return null;
			});
			assertThat(this.devices.pinned()).isEqualTo(2);
			assertThat(alone.group(0).recorder().latest(1000)).extracting("site").contains("gradients", (Object) null);
		}
		assertThat(this.devices.pinned()).isZero();
	}

	@Test
	void aGroupThatClosesDuringACallFailsItAndFreesPinnedMemoryOnce() throws Exception {
		DeviceCollectives collectives = collectives(0, ALLOWED);
		try (DeviceBuffer own = buffer(0, SEVERAL_CHUNKS)) {
			CompletableFuture<Void> call = CompletableFuture
				.runAsync(() -> collectives.allReduceInPlace(own, ReduceOp.SUM), OwnThread.EXECUTOR);
			Awaitility.await().atMost(LONG).until(() -> this.world.group(0).lastEntered() >= 0);
			this.world.group(0).close();
			assertThat(call).failsWithin(LONG)
				.withThrowableThat()
				.havingCause()
				.isInstanceOfAny(CollectiveException.class, IllegalStateException.class);
			assertThat(this.devices.pinned()).isZero();
			assertThatIllegalStateException().isThrownBy(() -> collectives.allReduceInPlace(own, ReduceOp.SUM))
				.withMessageContaining("rank 0: all-reduce of group world: the group is closed on this rank");
			assertThat(this.devices.pinned()).isZero();
		}
	}

	@Test
	void concurrentCallsTakeTurnsInThePinnedMemory() throws Exception {
		try (SimulatedWorld alone = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			DeviceCollectives collectives = new DeviceCollectives(alone.group(0), this.devices, ALLOWED,
					CollectiveListener.NONE, LONG);
			RankThreads.run(6, LONG, (thread) -> {
				for (int call = 0; call < 5; call++) {
					try (DeviceBuffer own = DeviceBuffer.allocate(this.devices, 0, SEVERAL_CHUNKS,
							DeviceDataType.FLOAT32)) {
						float[] values = new float[SEVERAL_CHUNKS];
						Arrays.fill(values, thread + 10 * call);
						HostDevices.write(own.address(), values);
						try (DeviceBuffer copy = collectives.allReduce(own, ReduceOp.SUM)) {
							assertThat(Arrays.equals(HostDevices.read(copy.address(), SEVERAL_CHUNKS), values))
								.isTrue();
						}
					}
				}
				return null;
			});
			assertThat(this.devices.pinned()).isEqualTo(2);
		}
		assertThat(this.devices.pinned()).isZero();
	}

	@Test
	void aFailureOfTheDeviceBreaksTheGroupOnEveryRank() throws Exception {
		HostDevices failing = new HostDevices(1);
		List<RankThreads.Outcome<Object>> outcomes = RankThreads.outcomes(2, LONG, (rank) -> {
			HostDevices own = (rank == 0) ? failing : this.devices;
			try (DeviceBuffer buffer = DeviceBuffer.allocate(own, 0, 4, DeviceDataType.FLOAT32)) {
				failing.refuseStreams();
				new DeviceCollectives(this.world.group(rank), own, ALLOWED, this.listener, LONG)
					.allReduceInPlace(buffer, ReduceOp.SUM);
			}
			return null;
		});
		assertThat(outcomes).allSatisfy(
				(outcome) -> assertThat(outcome.failure()).isInstanceOfSatisfying(CollectiveException.class, (ex) -> {
					assertThat(ex).hasMessageContaining("cudaStreamCreateWithFlags failed: out of memory");
					assertThat(ex.peers()).containsExactly(0);
					assertThat(ex.worldSize()).isEqualTo(2);
				}));
		assertThat(outcomes.getFirst().failure()).hasCauseInstanceOf(DeviceException.class);
		assertThat(failing.allocations()).isZero();
	}

	/**
	 * Rank 1 joins the first chunk's collective only after it has closed rank 0's buffer.
	 */
	@Test
	void aBufferThatIsClosedDuringACallBreaksTheGroup() throws Exception {
		try (DeviceBuffer first = buffer(0, SEVERAL_CHUNKS); DeviceBuffer second = buffer(1, SEVERAL_CHUNKS)) {
			DeviceBuffer closed = first.part(0, SEVERAL_CHUNKS);
			List<RankThreads.Outcome<Object>> outcomes = RankThreads.outcomes(2, LONG, (rank) -> {
				if (rank == 1) {
					Awaitility.await().atMost(LONG).until(() -> this.devices.copies() >= 2);
					closed.close();
				}
				collectives(rank, ALLOWED).allReduceInPlace((rank == 0) ? closed : second, ReduceOp.SUM);
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("all-reduce: this device buffer is closed"));
			assertThat(outcomes.getFirst().failure()).hasCauseInstanceOf(IllegalStateException.class);
		}
	}

	@Test
	void anOperatorThatTheTypeLacksIsRejectedAndTheGroupStaysUsable() {
		try (DeviceBuffer own = buffer(0, 4)) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> collectives(0, ALLOWED).allReduceInPlace(own, ReduceOp.BITWISE_AND));
			assertThat(this.world.group(0).state()).isEqualTo(GroupState.READY);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anErrorThatTheReleaseOfTheResultMeetsAgainStaysTheCause(boolean copied) {
		DeviceBuffer own = buffer(0, 4);
		this.devices.breakOnWork();
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> {
			DeviceCollectives collectives = collectives(0, ALLOWED);
			if (copied) {
				collectives.allReduce(own, ReduceOp.SUM);
			}
			else {
				collectives.reduceScatter(own, ReduceOp.SUM);
			}
		})
			.withMessageContaining("cudaStreamQuery failed: an illegal memory access was encountered")
			.withCauseInstanceOf(DeviceException.class)
			.satisfies((ex) -> assertThat(ex).hasSuppressedException(
					new DeviceException("cudaFree", 700, "an illegal memory access was encountered")));
	}

	@Test
	void anInterruptWhileTheInputIsNotReadyIsTheCause() {
		try (DeviceBuffer own = buffer(0, 4)) {
			this.devices.interruptWaits();
			assertThatAnInterruptIsTheCause(own, "all-reduce: the default stream of device 0 was not idle");
		}
	}

	@Test
	void anInterruptDuringTheCopiesIsTheCause() {
		try (DeviceBuffer own = buffer(0, 4)) {
			this.devices.interruptWaitsOnStreams();
			assertThatAnInterruptIsTheCause(own, "copies between device and host were not done");
		}
	}

	private void assertThatAnInterruptIsTheCause(DeviceBuffer own, String problem) {
		Throwable failure = catchThrowable(() -> collectives(0, ALLOWED).allReduceInPlace(own, ReduceOp.SUM));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(failure).isInstanceOf(CollectiveException.class)
			.hasMessageContaining(problem + " before the calling thread was interrupted")
			.hasCauseInstanceOf(InterruptedException.class);
	}

	@Test
	void anInterruptDuringTheCollectiveIsTheCause() {
		try (DeviceBuffer own = buffer(0, 4)) {
			CompletableFuture<Throwable> failure = new CompletableFuture<>();
			Thread caller = Thread.ofPlatform().start(() -> {
				Throwable thrown = catchThrowable(() -> collectives(0, ALLOWED).allReduceInPlace(own, ReduceOp.SUM));
				failure.complete(Thread.currentThread().isInterrupted() ? thrown : null);
			});
			Awaitility.await()
				.atMost(LONG)
				.until(() -> this.world.group(0).lastEntered() >= 0 && caller.getState() == Thread.State.WAITING);
			caller.interrupt();
			assertThat(failure).succeedsWithin(LONG.dividedBy(2))
				.satisfies((thrown) -> assertThat(thrown).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("all-reduce: the calling thread was interrupted")
					.hasCauseInstanceOf(InterruptedException.class));
		}
		Awaitility.await().atMost(LONG).until(() -> this.world.group(1).failure() != null);
	}

	@Test
	void aResultThatCannotBeAllocatedBreaksTheGroup() {
		try (DeviceBuffer own = buffer(0, 4)) {
			this.devices.exhaustMemory();
			assertThatExceptionOfType(CollectiveException.class)
				.isThrownBy(() -> collectives(0, ALLOWED).allGather(own))
				.withMessageContaining("all-gather: cudaMalloc failed: out of memory")
				.withCauseInstanceOf(DeviceException.class);
			Awaitility.await().atMost(LONG).until(() -> this.world.group(1).failure() != null);
		}
	}

	@Test
	void thePropertyTakesPrecedenceOverTheVariable() {
		assertThat(HostFallback.of((name) -> null, Map.of()).allowed()).isFalse();
		assertThat(HostFallback.of((name) -> null, Map.of("TUTTI_ENABLE_GPU_FALLBACK", "1")).allowed()).isTrue();
		assertThat(HostFallback.of((name) -> "false", Map.of("TUTTI_ENABLE_GPU_FALLBACK", "1")).allowed()).isFalse();
		assertThat(HostFallback.of((name) -> "true", Map.of()).allowed()).isTrue();
		assertThatIllegalArgumentException()
			.isThrownBy(() -> HostFallback.of((name) -> null, Map.of("TUTTI_ENABLE_GPU_FALLBACK", "yes")))
			.withMessage("TUTTI_ENABLE_GPU_FALLBACK must be true, false, 1 or 0, got yes");
	}

	private DeviceCollectives collectives(int rank, HostFallback fallback) {
		return new DeviceCollectives(this.world.group(rank), this.devices, fallback, this.listener, LONG);
	}

	private DeviceBuffer buffer(int rank, int count) {
		DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, rank, count, DeviceDataType.FLOAT32);
		float[] values = new float[count];
		for (int index = 0; index < count; index++) {
			values[index] = value(rank, index);
		}
		HostDevices.write(buffer.address(), values);
		return buffer;
	}

	private static float value(int rank, int index) {
		return (index % 97 + 1) * (rank + 2);
	}

	private static float at(DeviceBuffer buffer, int index) {
		return HostDevices.read(buffer.address() + 4L * index, 1)[0];
	}

}
