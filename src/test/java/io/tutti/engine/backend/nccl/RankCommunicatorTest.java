package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.OwnThread;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.RankOutOfRangeException;
import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Calls, life cycle, close and abort of a communicator on a scripted NCCL.
 */
@Timeout(60)
class RankCommunicatorTest {

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofMillis(150);

	private static final DeviceReduction SUM = DeviceReduction.of(ReduceOp.SUM);

	private final HostDevices devices = new HostDevices(4);

	private final ScriptedNccl nccl = new ScriptedNccl(this.devices);

	private final UniqueId id = RankCommunicator.newId(this.nccl.library());

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 4 })
	void everyRankHoldsTheSum(int worldSize) throws Exception {
		List<float[]> results = onRanks(worldSize, (communicator) -> {
			try (DeviceBuffer buffer = buffer(communicator, communicator.rank() + 1, 10 * communicator.rank())) {
				communicator.operations().allReduce(DeviceOperands.inPlace(buffer), SUM);
				communicator.synchronize();
				return HostDevices.read(buffer.address(), 2);
			}
		});
		float[] expected = { worldSize * (worldSize + 1) / 2f, 10f * worldSize * (worldSize - 1) / 2 };
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(expected));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void partsReachTheirRanksByOneCallOrByMessages(boolean hasCalls) throws Exception {
		Set<NcclFunction> functions = EnumSet.allOf(NcclFunction.class);
		if (!hasCalls) {
			functions.removeAll(Set.of(NcclFunction.GATHER, NcclFunction.SCATTER, NcclFunction.ALL_TO_ALL));
		}
		List<float[]> results = onRanks(3, this.nccl.library(functions), (communicator) -> {
			float rank = communicator.rank();
			try (DeviceBuffer own = buffer(communicator, rank);
					DeviceBuffer three = buffer(communicator, 10 * rank, 10 * rank + 1, 10 * rank + 2);
					DeviceBuffer gathered = buffer(communicator, -1, -1, -1);
					DeviceBuffer exchanged = buffer(communicator, -1, -1, -1)) {
				StreamOperations operations = communicator.operations();
				operations.gather(DeviceOperands.of(own, gathered), 1);
				operations.allToAll(DeviceOperands.of(three, exchanged));
				operations.synchronize();
				operations.scatter(DeviceOperands.of(three, own), 2);
				operations.synchronize();
				return new float[] { HostDevices.read(gathered.address(), 3)[2],
						HostDevices.read(exchanged.address(), 3)[0], HostDevices.read(exchanged.address(), 3)[2],
						HostDevices.read(own.address(), 1)[0] };
			}
		});
		assertThat(results.get(0)).containsExactly(-1, 0, 20, 20);
		assertThat(results.get(1)).containsExactly(2, 1, 21, 21);
		assertThat(results.get(2)).containsExactly(-1, 2, 22, 22);
		assertThat(this.nccl.count("alltoAll")).isEqualTo(hasCalls ? 3 : 0);
	}

	@Test
	void theOtherCollectivesComputeTheirResults() throws Exception {
		List<float[]> results = onRanks(2, (communicator) -> {
			float rank = communicator.rank();
			try (DeviceBuffer own = buffer(communicator, rank + 1);
					DeviceBuffer two = buffer(communicator, rank, rank + 2);
					DeviceBuffer all = buffer(communicator, -1, -1);
					DeviceBuffer reduced = buffer(communicator, -1);
					DeviceBuffer part = buffer(communicator, -1)) {
				StreamOperations operations = communicator.operations();
				operations.allGather(DeviceOperands.of(own, all));
				operations.reduce(DeviceOperands.of(own, reduced), DeviceReduction.of(ReduceOp.MAX), 0);
				operations.reduceScatter(DeviceOperands.of(two, part), DeviceReduction.of(ReduceOp.AVERAGE));
				operations.broadcast(DeviceOperands.inPlace(own), 1);
				operations.synchronize();
				return new float[] { HostDevices.read(all.address(), 2)[0], HostDevices.read(all.address(), 2)[1],
						HostDevices.read(reduced.address(), 1)[0], HostDevices.read(part.address(), 1)[0],
						HostDevices.read(own.address(), 1)[0] };
			}
		});
		assertThat(results.get(0)).containsExactly(1, 2, 2, 0.5f, 2);
		assertThat(results.get(1)).containsExactly(1, 2, -1, 2.5f, 2);
	}

	@Test
	void eachRankMultipliesByItsOwnFactorFirst() throws Exception {
		List<float[]> results = onRanks(2, (communicator) -> {
			try (DeviceBuffer buffer = buffer(communicator, 10)) {
				communicator.operations()
					.allReduce(DeviceOperands.inPlace(buffer),
							DeviceReduction.premultipliedSum(communicator.rank() + 0.5));
				communicator.synchronize();
				return HostDevices.read(buffer.address(), 1);
			}
		});
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(20));
		assertThat(this.nccl.count("redOpDestroy")).isEqualTo(2);
	}

	@Test
	void crossingMessagesUseOneGroup() throws Exception {
		List<float[]> results = onRanks(2, (communicator) -> {
			int other = 1 - communicator.rank();
			try (DeviceBuffer send = buffer(communicator, communicator.rank() + 7);
					DeviceBuffer receive = buffer(communicator, -1)) {
				communicator.operations().group((together) -> {
					together.receive(DeviceOperands.receiving(receive), other);
					together.send(DeviceOperands.sending(send), other);
				});
				communicator.synchronize();
				return HostDevices.read(receive.address(), 1);
			}
		});
		assertThat(results.get(0)).containsExactly(8);
		assertThat(results.get(1)).containsExactly(7);
	}

	@Test
	void severalBuffersUseOneGroup() throws Exception {
		List<float[]> results = onRanks(2, (communicator) -> {
			try (DeviceBuffer one = buffer(communicator, communicator.rank() + 1);
					DeviceBuffer two = buffer(communicator, 10, 20 * communicator.rank())) {
				communicator.operations()
					.allReduce(List.of(DeviceOperands.inPlace(one), DeviceOperands.inPlace(two)), SUM);
				communicator.synchronize();
				return new float[] { HostDevices.read(one.address(), 1)[0], HostDevices.read(two.address(), 2)[0],
						HostDevices.read(two.address(), 2)[1] };
			}
		});
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(3, 20, 20));
		assertThat(this.nccl.calls).containsSubsequence("groupStart", "allReduce", "allReduce", "groupEnd");
	}

	@Test
	void anInvalidRankCarriesRankAndWorldSize() {
		try (RankCommunicator alone = alone(); DeviceBuffer one = buffer(alone, 1)) {
			StreamOperations operations = alone.operations();
			for (Runnable call : List.<Runnable>of(() -> operations.broadcast(DeviceOperands.inPlace(one), 4),
					() -> operations.send(DeviceOperands.sending(one), 4),
					() -> operations.receive(DeviceOperands.receiving(one), 4), () -> alone.shrink(Set.of(4), false),
					() -> new RankPlacement(4, 1, 0))) {
				assertThatExceptionOfType(RankOutOfRangeException.class).isThrownBy(call::run)
					.satisfies((ex) -> assertThat(ex.rank()).isEqualTo(4))
					.satisfies((ex) -> assertThat(ex.worldSize()).isEqualTo(1));
			}
		}
	}

	@Test
	void anErrorInsideAGroupStillEndsTheGroup() {
		try (RankCommunicator alone = alone(); DeviceBuffer one = buffer(alone, 1)) {
			this.nccl.answers("allReduce", NcclResult.INVALID_ARGUMENT);
			DeviceOperands operands = DeviceOperands.inPlace(one);
			assertThatExceptionOfType(NcclException.class)
				.isThrownBy(() -> alone.operations().allReduce(List.of(operands, operands), SUM))
				.satisfies((ex) -> assertThat(ex.result()).isEqualTo(NcclResult.INVALID_ARGUMENT));
			assertThat(this.nccl.calls).containsSubsequence("groupStart", "allReduce", "groupEnd");
			assertThat(this.nccl.count("allReduce")).isOne();
		}
	}

	@Test
	void aBarrierWaitsForTheLastRank() throws Exception {
		CountDownLatch firstHasEntered = new CountDownLatch(1);
		onRanks(2, (communicator) -> {
			if (communicator.rank() == 1) {
				assertThat(firstHasEntered.await(20, TimeUnit.SECONDS)).isTrue();
			}
			else {
				CompletableFuture<Void> barrier = CompletableFuture.runAsync(communicator::barrier, OwnThread.EXECUTOR);
				Awaitility.await().until(() -> this.nccl.count("allReduce") == 1);
				assertThat(barrier).isNotDone();
				firstHasEntered.countDown();
				barrier.get(20, TimeUnit.SECONDS);
				return null;
			}
			communicator.barrier();
			return null;
		});
	}

	@Test
	void invalidArgumentsAreRejectedBeforeAnythingRuns() {
		try (RankCommunicator alone = alone();
				DeviceBuffer two = buffer(alone, 1, 2);
				DeviceBuffer one = buffer(alone, 1)) {
			StreamOperations operations = alone.operations();
			assertThatIllegalArgumentException().isThrownBy(() -> operations.broadcast(DeviceOperands.inPlace(one), 1))
				.withMessage("root must be in 0..0, got 1");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> operations.allReduce(DeviceOperands.of(two, one), SUM))
				.withMessageContaining("receive count must be 2");
			assertThatIllegalArgumentException()
				.isThrownBy(() -> operations
					.allReduce(new DeviceOperands(3, one.address(), 1, one.address(), 1, one.type()), SUM))
				.withMessage("the communicator works on device 0, the buffer is on device 3");
			assertThatIllegalArgumentException().isThrownBy(() -> operations.send(DeviceOperands.sending(one), -1))
				.withMessage("peer must be in 0..0, got -1");
			assertThatIllegalArgumentException().isThrownBy(() -> new DeviceOperands(0, 0, 1, 0, 0, one.type()))
				.withMessage("send address is 0 for 1 elements");
			assertThat(this.nccl.calls).doesNotContain("broadcast", "allReduce", "send");
		}
	}

	@Test
	void overlappingBuffersAreRejectedUnlessTheyAreInPlace() throws Exception {
		onRanks(2, (communicator) -> {
			int rank = communicator.rank();
			try (DeviceBuffer four = buffer(communicator, 1, 2, 3, 4)) {
				StreamOperations operations = communicator.operations();
				DeviceBuffer own = four.part(2L * rank, 2);
				DeviceBuffer others = four.part(2L - 2L * rank, 2);
				for (Runnable call : List.<Runnable>of(
						() -> operations.allReduce(DeviceOperands.of(four.part(0, 3), four.part(1, 3)), SUM),
						() -> operations.reduce(DeviceOperands.of(four.part(0, 3), four.part(1, 3)), SUM, rank),
						() -> operations.allGather(DeviceOperands.of(others, four)),
						() -> operations.reduceScatter(DeviceOperands.of(four, others), SUM),
						() -> operations.gather(DeviceOperands.of(others, four), rank),
						() -> operations.scatter(DeviceOperands.of(four, others), rank),
						() -> operations.allToAll(DeviceOperands.inPlace(four)))) {
					assertThatIllegalArgumentException().isThrownBy(call::run)
						.withMessageContaining("must not overlap");
				}
				operations.allGather(DeviceOperands.of(own, four));
				operations.reduceScatter(DeviceOperands.of(four, own), SUM);
				operations.synchronize();
				return null;
			}
		});
		assertThat(this.nccl.calls).doesNotContain("allReduce", "reduce", "gather", "scatter", "alltoAll");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aPartInItsPlaceIsNotSent(boolean hasCalls) throws Exception {
		Set<NcclFunction> functions = EnumSet.allOf(NcclFunction.class);
		if (!hasCalls) {
			functions.removeAll(Set.of(NcclFunction.GATHER, NcclFunction.SCATTER));
		}
		List<float[]> results = onRanks(2, this.nccl.library(functions), (communicator) -> {
			int rank = communicator.rank();
			try (DeviceBuffer two = buffer(communicator, rank + 1, rank + 7)) {
				StreamOperations operations = communicator.operations();
				DeviceBuffer own = two.part(rank, 1);
				operations.gather((rank == 0) ? DeviceOperands.of(own, two) : DeviceOperands.sending(own), 0);
				operations.scatter((rank == 1) ? DeviceOperands.of(two, own) : DeviceOperands.receiving(own), 1);
				operations.synchronize();
				return HostDevices.read(two.address(), 2);
			}
		});
		assertThat(results.get(0)).containsExactly(2, 8);
		assertThat(results.get(1)).containsExactly(2, 8);
		assertThat(this.nccl.count("send")).isEqualTo(hasCalls ? 0 : 2);
		assertThat(this.nccl.count("recv")).isEqualTo(hasCalls ? 0 : 2);
	}

	@Test
	void impossibleCountsAreRejected() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DeviceOperands(0, 8, Long.MAX_VALUE / 4 + 1, 8, 1, DeviceDataType.FLOAT32))
			.withMessageStartingWith("send count must be in 0..");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DeviceOperands(0, 8, 1, 8, -1, DeviceDataType.FLOAT32))
			.withMessageContaining("receive count must be in 0..")
			.withMessageEndingWith("got -1");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> DeviceBuffer.wrap(0, 8, Long.MAX_VALUE / 2, DeviceDataType.FLOAT64));
	}

	@Test
	void aRankOrDeviceOutOfRangeIsRejectedBeforeAnythingRuns() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RankPlacement(2, 2, 0))
			.withMessage("rank must be in 0..1, got 2");
		assertThatIllegalArgumentException()
			.isThrownBy(
					() -> RankCommunicator.create(this.nccl.library(), this.id, new RankPlacement(0, 1, 4), null, LONG))
			.withMessage("device must be in 0..3, got 4");
		assertThat(this.nccl.calls).doesNotContain("commInitRankConfig");
	}

	@Test
	void localRanksShareDevicesRoundRobin() {
		assertThat(RankPlacement.ofLocalRank(5, 8, 1, 4).device()).isEqualTo(1);
		assertThat(RankPlacement.ofLocalRank(5, 8, 5, 4).device()).isEqualTo(1);
	}

	@Test
	void aCreationThatARankMissesTimesOut() {
		assertThatExceptionOfType(NcclException.class).isThrownBy(
				() -> RankCommunicator.create(this.nccl.library(), this.id, new RankPlacement(0, 2, 0), null, SHORT))
			.withMessageContaining("init was not done within 150 ms")
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(NcclException.Reason.TIMEOUT));
		assertThat(this.nccl.count("commAbort")).isOne();
	}

	@Test
	void aCreationErrorIncludesNcclsLastError() {
		this.nccl.answers("commInitRankConfig", NcclResult.INVALID_USAGE).lastError = "Duplicate GPU detected";
		assertThatExceptionOfType(NcclException.class).isThrownBy(this::alone)
			.withMessageContaining("Duplicate GPU detected")
			.withMessageContaining("NCCL_HOSTID");
	}

	@Test
	void anAsynchronousCreationErrorAbortsAndLeaksNoStream() {
		this.nccl.failsWhenMade = NcclResult.SYSTEM_ERROR;
		assertThatExceptionOfType(NcclException.class).isThrownBy(this::alone)
			.withMessageContaining("a system call failed");
		assertThat(this.nccl.count("commAbort")).isOne();
		assertThat(this.devices.streamsMade).hasValue(0);
	}

	@Test
	void aMissingPeerTimesOutAndAbortsTheCommunicator() throws Exception {
		onRanks(2, (communicator) -> {
			if (communicator.rank() == 0) {
				DeviceBuffer buffer = buffer(communicator, 1);
				StreamOperations impatient = communicator.operations().within(SHORT);
				impatient.allReduce(DeviceOperands.inPlace(buffer), SUM);
				assertThatExceptionOfType(NcclException.class).isThrownBy(impatient::synchronize)
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(NcclException.Reason.TIMEOUT));
				assertThatExceptionOfType(NcclException.class)
					.isThrownBy(() -> impatient.allReduce(DeviceOperands.inPlace(buffer), SUM))
					.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(NcclException.Reason.ABORTED));
			}
			return null;
		});
	}

	@Test
	void anAbortReleasesACallStuckOnAnotherThread() throws Exception {
		onRanks(2, (communicator) -> {
			if (communicator.rank() == 0) {
				DeviceBuffer buffer = buffer(communicator, 1);
				communicator.operations().allReduce(DeviceOperands.inPlace(buffer), SUM);
				CompletableFuture<Void> waiting = CompletableFuture.runAsync(communicator::synchronize,
						OwnThread.EXECUTOR);
				communicator.abort();
				communicator.abort();
				assertThat(waiting).failsWithin(Duration.ofSeconds(10))
					.withThrowableThat()
					.withCauseInstanceOf(NcclException.class);
			}
			return null;
		});
		assertThat(this.nccl.count("commAbort")).isOne();
		assertThat(this.nccl.count("commDestroy")).isOne();
	}

	@Test
	void anAbortSucceedsDuringAStuckNativeCall() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		RankCommunicator communicator = alone();
		DeviceBuffer buffer = buffer(communicator, 1);
		this.nccl.blocks("allReduce", release);
		CompletableFuture<Void> stuck = CompletableFuture.runAsync(
				() -> communicator.operations().allReduce(DeviceOperands.inPlace(buffer), SUM), OwnThread.EXECUTOR);
		Awaitility.await().until(() -> this.nccl.count("allReduce") == 1);
		communicator.abort();
		assertThat(this.nccl.count("commAbort")).isOne();
		release.countDown();
		assertThat(stuck).failsWithin(Duration.ofSeconds(10));
		communicator.close();
		assertThat(this.nccl.count("commDestroy")).isZero();
	}

	@Test
	void aCloseFinalizesAndDestroysOnceAndReleasesItsStream() {
		RankCommunicator communicator = alone();
		communicator.close();
		communicator.close();
		communicator.abort();
		assertThat(this.nccl.calls).containsSubsequence("commFinalize", "commDestroy");
		assertThat(this.nccl.count("commFinalize")).isOne();
		assertThat(this.nccl.count("commDestroy")).isOne();
		assertThat(this.nccl.count("commAbort")).isZero();
		assertThat(this.devices.streamsGone).hasValue(1);
		assertThatIllegalStateException().isThrownBy(communicator::synchronize)
			.withMessage("synchronize: the communicator is closed");
	}

	@Test
	void aCloseAfterAnAbortOnlyDestroysTheStream() {
		RankCommunicator communicator = alone();
		communicator.abort();
		communicator.close();
		assertThat(this.nccl.calls).doesNotContain("commFinalize", "commDestroy");
		assertThat(this.devices.streamsGone).hasValue(1);
	}

	@Test
	void aCloseThatCannotFinalizeAborts() {
		this.nccl.answers("commFinalize", NcclResult.REMOTE_ERROR);
		alone().close();
		assertThat(this.nccl.count("commAbort")).isOne();
		assertThat(this.nccl.count("commDestroy")).isZero();
	}

	@RepeatedTest(50)
	void concurrentAbortAndCloseEndTheCommunicatorOnce() throws Exception {
		RankCommunicator communicator = alone();
		RankThreads.run(4, LONG, (thread) -> {
			if (thread % 2 == 0) {
				communicator.close();
			}
			else {
				communicator.abort();
			}
			return null;
		});
		assertThat(this.nccl.count("commAbort") + this.nccl.count("commDestroy")).isOne();
		assertThat(this.devices.streamsGone).hasValue(1);
	}

	@RepeatedTest(10)
	void aCloseEndsASynchronizeWhichThenLeavesTheStreamAlone() throws Exception {
		RankCommunicator communicator = alone();
		CountDownLatch waiting = new CountDownLatch(1);
		this.devices.queue(communicator.operations().stream(), () -> {
			waiting.countDown();
			return false;
		});
		CompletableFuture<Void> synchronize = onThread(communicator::synchronize);
		assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();
		communicator.close();
		assertThat(synchronize).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(IllegalStateException.class)
			.withMessageContaining("is closed");
		assertThat(this.devices.streamsGone).hasValue(1);
	}

	@Test
	void aCallerBehindAStuckNativeCallTimesOutAtItsOwnDeadline() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		RankCommunicator communicator = alone();
		DeviceBuffer buffer = buffer(communicator, 1);
		this.nccl.blocks("allReduce", release);
		CompletableFuture<Void> stuck = onThread(
				() -> communicator.operations().allReduce(DeviceOperands.inPlace(buffer), SUM));
		Awaitility.await().until(() -> this.nccl.count("allReduce") == 1);
		CompletableFuture<Void> behind = onThread(() -> communicator.operations().within(SHORT).synchronize());
		assertThat(behind).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withMessageContaining("synchronize was not done within 150 ms");
		assertThat(this.nccl.count("commAbort")).isOne();
		release.countDown();
		assertThat(stuck).failsWithin(Duration.ofSeconds(10));
		communicator.close();
	}

	@Test
	void aCloseBehindAStuckNativeCallAborts() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		NcclCommunicator communicator = new NcclCommunicator(this.nccl.library(),
				NcclCommunicator.HandleSlots.of(alone().handle()), List.of(new RankPlacement(0, 1, 0)));
		this.nccl.blocks("groupStart", release);
		CompletableFuture<Void> stuck = onThread(
				() -> communicator.issue("stuck", Deadline.after(LONG), (nccl, _) -> nccl.groupStart()));
		Awaitility.await().until(() -> this.nccl.count("groupStart") == 1);
		communicator.close(Deadline.after(SHORT), Nccl::commFinalize);
		assertThat(this.nccl.count("commAbort")).isOne();
		assertThat(this.nccl.calls).doesNotContain("commFinalize", "commDestroy");
		release.countDown();
		assertThat(stuck).failsWithin(Duration.ofSeconds(10)).withThrowableThat().withMessageContaining("aborted");
	}

	@Test
	void anInterruptAbortsAndStaysSet() throws Exception {
		RankCommunicator communicator = alone();
		CountDownLatch waiting = new CountDownLatch(1);
		this.devices.queue(communicator.operations().stream(), () -> {
			waiting.countDown();
			return false;
		});
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		Thread waiter = Thread.ofPlatform().start(() -> {
			try {
				communicator.synchronize();
			}
			catch (NcclException ex) {
				interrupted
					.complete(Thread.currentThread().isInterrupted() && ex.reason() == NcclException.Reason.ABORTED
							&& ex.getMessage().contains("the calling thread was interrupted"));
			}
		});
		assertThat(waiting.await(20, TimeUnit.SECONDS)).isTrue();
		waiter.interrupt();
		assertThat(interrupted).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
		assertThat(this.nccl.count("commAbort")).isOne();
		communicator.close();
	}

	@Test
	void theCallersStreamRunsTheCallsAndIsNotDestroyed() {
		RankCommunicator communicator = RankCommunicator.create(this.nccl.library(), this.id,
				new RankPlacement(0, 1, 0), 77L, LONG);
		assertThat(communicator.operations().stream()).isEqualTo(77);
		try (DeviceBuffer send = buffer(communicator, 3); DeviceBuffer receive = buffer(communicator, -1)) {
			communicator.operations().allReduce(DeviceOperands.of(send, receive), SUM);
			assertThat(this.devices.isIdle(DeviceRuntime.DEFAULT_STREAM)).isTrue();
			assertThat(HostDevices.read(receive.address(), 1)).containsExactly(-1);
			communicator.synchronize();
			assertThat(HostDevices.read(receive.address(), 1)).containsExactly(3);
		}
		communicator.close();
		assertThat(this.devices.streamsMade).hasValue(0);
		assertThat(this.devices.streamsGone).hasValue(0);
	}

	@Test
	void theDefaultStreamIsThatOfTheCommunicatorsDevice() {
		this.devices.selectDevice(0);
		try (RankCommunicator communicator = RankCommunicator.create(this.nccl.library(), this.id,
				new RankPlacement(0, 1, 1), DeviceRuntime.DEFAULT_STREAM, LONG);
				DeviceBuffer send = buffer(communicator, 3);
				DeviceBuffer receive = buffer(communicator, -1)) {
			communicator.operations().allReduce(DeviceOperands.of(send, receive), SUM);
			communicator.synchronize();
			assertThat(HostDevices.read(receive.address(), 1)).containsExactly(3);
			assertThat(this.devices.currentDevice()).isZero();
		}
	}

	@Test
	void theDefaultStreamIsUsedIfNoneCanBeCreated() {
		this.devices.refuseStreams();
		try (RankCommunicator communicator = alone()) {
			assertThat(communicator.operations().stream()).isZero();
		}
		assertThat(this.devices.streamsGone).hasValue(0);
	}

	@Test
	void theCallersDeviceIsRestored() {
		this.devices.selectDevice(3);
		try (RankCommunicator communicator = alone(); DeviceBuffer buffer = buffer(communicator, 1)) {
			communicator.operations().allReduce(DeviceOperands.inPlace(buffer), SUM);
			communicator.synchronize();
			assertThat(this.devices.currentDevice()).isEqualTo(3);
		}
		assertThat(this.devices.currentDevice()).isEqualTo(3);
	}

	@Test
	void theWatchdogReportsAnAsynchronousError() throws Exception {
		CompletableFuture<NcclException> reported = new CompletableFuture<>();
		try (RankCommunicator communicator = alone();
				Watchdog _ = Watchdog.start(communicator, 0, Duration.ofMillis(5), reported::complete)) {
			this.nccl.lastError = "connection to 10.0.0.7 reset";
			this.nccl.fail(communicator.handle(), NcclResult.REMOTE_ERROR);
			NcclException failure = reported.get(10, TimeUnit.SECONDS);
			assertThat(failure.result()).isEqualTo(NcclResult.REMOTE_ERROR);
			assertThat(failure).hasMessageContaining("connection to 10.0.0.7 reset")
				.hasMessageContaining("Look at the rank that ended first");
			assertThatExceptionOfType(NcclException.class).isThrownBy(communicator::synchronize)
				.withMessageContaining("had failed before");
		}
		assertThat(this.nccl.count("commAbort")).isOne();
	}

	/** A call that misses its deadline aborts and reports the timeout itself. */
	@Test
	void theWatchdogEndsAtAnAbortWithoutReportingIt() {
		int rank = 603;
		CompletableFuture<NcclException> reported = new CompletableFuture<>();
		try (RankCommunicator communicator = alone();
				Watchdog _ = Watchdog.start(communicator, rank, Duration.ofMillis(5), reported::complete)) {
			communicator.abort();
			Awaitility.await()
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().equals("tutti-r" + rank + "-nccl-watchdog")));
			assertThat(reported).isNotDone();
		}
	}

	@Test
	void theRemainingRanksContinueAfterAFailure() {
		RankCommunicator communicator = pairWithALostRank();
		try (communicator; RankCommunicator rest = communicator.shrink(Set.of(1), true)) {
			assertThat(rest.worldSize()).isOne();
			assertThat(this.nccl.calls).contains("commShrink" + NcclCodes.SHRINK_ABORT);
			rest.barrier();
		}
	}

	private RankCommunicator pairWithALostRank() {
		CompletableFuture<RankCommunicator> other = CompletableFuture.supplyAsync(
				() -> RankCommunicator.create(this.nccl.library(), this.id, new RankPlacement(1, 2, 1), null, LONG),
				OwnThread.EXECUTOR);
		RankCommunicator communicator = RankCommunicator.create(this.nccl.library(), this.id,
				new RankPlacement(0, 2, 0), null, LONG);
		other.join().abort();
		this.nccl.fail(communicator.handle(), NcclResult.REMOTE_ERROR);
		assertThatExceptionOfType(NcclException.class).isThrownBy(communicator::synchronize);
		return communicator;
	}

	@Test
	void aSplitThatFailsAsynchronouslyThrows() {
		RankCommunicator communicator = alone();
		this.nccl.answers("commSplit", NcclResult.IN_PROGRESS);
		this.nccl.fail(communicator.handle(), NcclResult.REMOTE_ERROR);
		assertThatExceptionOfType(NcclException.class).isThrownBy(() -> communicator.split(-1, 0))
			.withMessageContaining("split");
		communicator.close();
		assertThat(this.nccl.count("commAbort")).isEqualTo(1);
	}

	@Test
	void aSplitReturnsACommunicatorOrNullWithoutAColor() {
		try (RankCommunicator communicator = alone(); RankCommunicator part = communicator.split(0, 0)) {
			assertThat(part.worldSize()).isOne();
			part.barrier();
			assertThat(communicator.split(-1, 0)).isNull();
		}
	}

	@Test
	void aSplitWhoseNewCommunicatorFailsAbortsItAndThrows() {
		RankCommunicator communicator = alone();
		this.nccl.failsWhenDerived = NcclResult.SYSTEM_ERROR;
		assertThatExceptionOfType(NcclException.class).isThrownBy(() -> communicator.split(0, 0))
			.satisfies((ex) -> assertThat(ex.result()).isEqualTo(NcclResult.SYSTEM_ERROR));
		assertThat(this.nccl.count("commAbort")).isOne();
		communicator.close();
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
	}

	@Test
	void theParentMayBeUsedAsSoonAsASplitReturns() {
		try (RankCommunicator communicator = alone(); RankCommunicator _ = communicator.split(0, 0)) {
			communicator.barrier();
		}
	}

	@Test
	void aMissingFunctionIsRejectedAndNeverCalled() {
		NcclLibrary old = this.nccl.library(EnumSet.of(NcclFunction.INIT_RANK_CONFIG, NcclFunction.FINALIZE));
		try (RankCommunicator communicator = RankCommunicator.create(old, this.id, new RankPlacement(0, 1, 0), null,
				LONG); DeviceBuffer buffer = buffer(communicator, 1)) {
			for (Runnable call : List.<Runnable>of(() -> communicator.split(0, 0),
					() -> communicator.shrink(Set.of(1), false), () -> communicator.register(buffer),
					() -> communicator.allocate(1, DeviceDataType.FLOAT32), () -> communicator.operations()
						.allReduce(DeviceOperands.inPlace(buffer), DeviceReduction.premultipliedSum(2)))) {
				assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(call::run)
					.withMessageContaining("needs NCCL 2.");
			}
			assertThat(this.nccl.calls).doesNotContain("commSplit", "commShrink0", "commRegister", "memAlloc");
		}
	}

	@Test
	void aTypeThatTheLibraryLacksIsRejectedAndTheCommunicatorStaysOpen() {
		NcclLibrary old = new NcclLibrary(this.nccl, this.devices, new NcclAvailability(
				NcclAvailability.State.AVAILABLE, "scripted", 4, 22304, EnumSet.allOf(NcclFunction.class)));
		try (RankCommunicator communicator = RankCommunicator.create(old, this.id, new RankPlacement(0, 1, 0), null,
				LONG);
				DeviceBuffer floats = buffer(communicator, 1);
				DeviceBuffer bytes = DeviceBuffer.wrap(0, floats.address(), 4, DeviceDataType.FLOAT8_E5M2)) {
			StreamOperations operations = communicator.operations();
			for (Runnable call : List.<Runnable>of(() -> operations.allReduce(DeviceOperands.inPlace(bytes), SUM),
					() -> operations.broadcast(DeviceOperands.inPlace(bytes), 0),
					() -> operations.send(DeviceOperands.sending(bytes), 0),
					() -> operations.receive(DeviceOperands.receiving(bytes), 0))) {
				assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(call::run)
					.withMessage("float8-e5m2 needs NCCL 2.24 or newer, installed is 2.23.4; "
							+ "install a newer libnccl.so.2");
			}
			assertThat(this.nccl.calls).doesNotContain("allReduce", "broadcast", "send", "recv");
			operations.allReduce(DeviceOperands.inPlace(floats), SUM);
			communicator.synchronize();
		}
	}

	@Test
	void registeredAndAllocatedMemoryIsReleasedOnce() {
		try (RankCommunicator communicator = alone()) {
			DeviceBuffer buffer = communicator.allocate(4, DeviceDataType.BFLOAT16);
			BufferRegistration registration = communicator.register(buffer);
			registration.close();
			registration.close();
			buffer.close();
			buffer.close();
			assertThat(this.nccl.count("commDeregister")).isOne();
			assertThat(this.nccl.count("memFree")).isOne();
		}
	}

	@Test
	void memoryThatCannotBeHadOrReleasedLeavesTheCommunicatorOpen() {
		try (RankCommunicator communicator = alone(); DeviceBuffer buffer = buffer(communicator, 1)) {
			DeviceBuffer allocated = communicator.allocate(4, DeviceDataType.FLOAT32);
			BufferRegistration registration = communicator.register(buffer);
			this.nccl.answers("memAlloc", NcclResult.UNHANDLED_CUDA_ERROR)
				.answers("commRegister", NcclResult.SYSTEM_ERROR)
				.answers("memFree", NcclResult.INVALID_ARGUMENT)
				.answers("commDeregister", NcclResult.INVALID_USAGE);
			assertRefused(() -> communicator.allocate(4, DeviceDataType.FLOAT32), NcclResult.UNHANDLED_CUDA_ERROR);
			assertRefused(() -> communicator.register(buffer), NcclResult.SYSTEM_ERROR);
			assertRefused(allocated::close, NcclResult.INVALID_ARGUMENT);
			assertRefused(registration::close, NcclResult.INVALID_USAGE);
			communicator.check();
			communicator.barrier();
		}
		assertThat(this.nccl.count("commAbort")).isZero();
	}

	private static void assertRefused(Runnable call, NcclResult result) {
		assertThatExceptionOfType(NcclException.class).isThrownBy(call::run)
			.satisfies((ex) -> assertThat(ex.result()).isEqualTo(result));
	}

	@Test
	void theIdIsRedactedAndSurvivesEncoding() {
		assertThat(UniqueId.fromBytes(this.id.asBytes())).isEqualTo(this.id);
		assertThat(this.id).hasToString("UniqueId[hidden]");
		assertThatIllegalArgumentException().isThrownBy(() -> UniqueId.fromBytes(new byte[64]))
			.withMessage("a unique id has 128 bytes, got 64");
	}

	/** Runs on a new thread, since the common pool may have only one. */
	private static CompletableFuture<Void> onThread(Runnable task) {
		return CompletableFuture.runAsync(task, OwnThread.EXECUTOR);
	}

	private RankCommunicator alone() {
		return RankCommunicator.create(this.nccl.library(), this.id, new RankPlacement(0, 1, 0), null, LONG);
	}

	private DeviceBuffer buffer(RankCommunicator communicator, float... values) {
		DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, communicator.device(), values.length,
				DeviceDataType.FLOAT32);
		HostDevices.write(buffer.address(), values);
		return buffer;
	}

	private interface Task<T> {

		T on(RankCommunicator communicator) throws Exception;

	}

	private <T> List<T> onRanks(int worldSize, Task<T> task) throws Exception {
		return onRanks(worldSize, this.nccl.library(), task);
	}

	private <T> List<T> onRanks(int worldSize, NcclLibrary library, Task<T> task) throws Exception {
		return RankThreads.run(worldSize, LONG, (rank) -> {
			try (RankCommunicator communicator = RankCommunicator.create(library, this.id,
					new RankPlacement(rank, worldSize, rank), null, LONG)) {
				return task.on(communicator);
			}
		});
	}

}
