package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.tutti.OwnThread;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Several devices of one process on a scripted NCCL.
 */
@Timeout(60)
class CommunicatorGroupTest {

	private static final Duration LONG = Duration.ofSeconds(30);

	private static final DeviceReduction SUM = DeviceReduction.of(ReduceOp.SUM);

	private final HostDevices devices = new HostDevices(4);

	private final ScriptedNccl nccl = new ScriptedNccl(this.devices);

	@Test
	void everyDeviceHoldsTheSumOnDefaultAndOnGivenStreams() {
		try (CommunicatorGroup group = group(List.of(2, 0, 3))) {
			List<DeviceBuffer> buffers = buffers(group, 1, 2, 4);
			group.allReduce(operands(buffers), SUM);
			group.synchronize(LONG);
			assertThat(firsts(buffers)).containsExactly(7f, 7f, 7f);
			List<Long> streams = List.of(11L, 12L, 13L);
			group.allReduce(operands(buffers), SUM, streams);
			group.synchronize(LONG);
			assertThat(firsts(buffers)).containsExactly(7f, 7f, 7f);
			group.synchronize(streams, LONG);
			assertThat(firsts(buffers)).containsExactly(21f, 21f, 21f);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void partsReachTheirDevicesByOneCallOrByMessages(boolean hasCalls) {
		Set<NcclFunction> functions = EnumSet.allOf(NcclFunction.class);
		if (!hasCalls) {
			functions.removeAll(Set.of(NcclFunction.GATHER, NcclFunction.SCATTER, NcclFunction.ALL_TO_ALL));
		}
		List<Long> streams = List.of(11L, 12L);
		try (CommunicatorGroup group = CommunicatorGroup.create(this.nccl.library(functions), List.of(0, 1))) {
			List<DeviceBuffer> own = buffers(group, 5, 9);
			List<DeviceBuffer> pairs = List.of(buffer(0, 1, 2), buffer(1, 3, 4));
			List<DeviceBuffer> gathered = List.of(buffer(0, 0, 0), buffer(1, 0, 0));
			List<DeviceBuffer> exchanged = List.of(buffer(0, 0, 0), buffer(1, 0, 0));
			group.gather(operands(own, gathered), 1, streams);
			group.allToAll(operands(pairs, exchanged), streams);
			group.synchronize(streams, LONG);
			assertThat(HostDevices.read(gathered.get(0).address(), 2)).containsExactly(0, 0);
			assertThat(HostDevices.read(gathered.get(1).address(), 2)).containsExactly(5, 9);
			assertThat(HostDevices.read(exchanged.get(0).address(), 2)).containsExactly(1, 3);
			assertThat(HostDevices.read(exchanged.get(1).address(), 2)).containsExactly(2, 4);
			group.scatter(operands(pairs, own), 1, streams);
			group.synchronize(streams, LONG);
			assertThat(firsts(own)).containsExactly(3f, 4f);
		}
		assertThat(this.nccl.count("alltoAll")).isEqualTo(hasCalls ? 2 : 0);
	}

	@ParameterizedTest
	@EnumSource(DeviceDataType.class)
	void everyTypeIsPassedToNccl(DeviceDataType type) {
		try (CommunicatorGroup group = group(List.of(0, 1));
				DeviceBuffer one = DeviceBuffer.allocate(this.devices, 0, 4, type);
				DeviceBuffer two = DeviceBuffer.allocate(this.devices, 1, 4, type)) {
			group.allReduce(operands(List.of(one, two)), SUM);
			assertThat(this.nccl.types).containsExactly(NcclCodes.of(type), NcclCodes.of(type));
		}
	}

	@Test
	void everyDeviceHoldsTheRootsValues() {
		try (CommunicatorGroup group = group(List.of(0, 1))) {
			List<DeviceBuffer> buffers = buffers(group, 5, 9);
			group.broadcast(operands(buffers), 1);
			group.synchronize(LONG);
			assertThat(firsts(buffers)).containsExactly(9f, 9f);
		}
	}

	@Test
	void devicesMustBeDistinctPresentAndAtLeastTwo() {
		assertThatIllegalArgumentException().isThrownBy(() -> group(List.of(1)))
			.withMessage("devices must be at least 2, got [1]");
		assertThatIllegalArgumentException().isThrownBy(() -> group(List.of(1, 1)))
			.withMessage("devices must be distinct, got [1, 1]");
		assertThatIllegalArgumentException().isThrownBy(() -> group(List.of(0, 4)))
			.withMessage("device must be in 0..3, got 4");
		assertThatIllegalArgumentException().isThrownBy(() -> group(List.of(0, -1)))
			.withMessage("device must be in 0..3, got -1");
		assertThat(this.nccl.calls).isEmpty();
	}

	@Test
	void invalidArgumentsAreRejectedByNameBeforeAnythingRuns() {
		try (CommunicatorGroup group = group(List.of(0, 1, 2, 3))) {
			List<DeviceOperands> three = operands(buffers(group, 1, 2, 3));
			List<DeviceOperands> four = operands(buffers(group, 1, 2, 3, 4));
			assertThatIllegalArgumentException().isThrownBy(() -> group.allReduce(three, SUM))
				.withMessage("expected 4 buffers (one per device), got 3");
			assertThatIllegalArgumentException().isThrownBy(() -> group.allReduce(four, SUM, List.of(1L)))
				.withMessage("expected 4 streams (one per device), got 1");
			assertThatIllegalArgumentException().isThrownBy(() -> group.broadcast(four, 4))
				.withMessage("root must be in 0..3, got 4");
			assertThatIllegalArgumentException().isThrownBy(() -> group.allReduce(four.reversed(), SUM))
				.withMessageContaining("works on device 0, the buffer is on device 3");
			assertThat(this.nccl.calls).doesNotContain("groupStart");
		}
	}

	/** NCCL itself would wait forever or move wrong data. */
	@Test
	void operandsThatDifferBetweenRanksAreRejectedBeforeAnythingRuns() {
		try (CommunicatorGroup group = group(List.of(0, 1, 2)); DeviceBuffer bytes = bytes(2)) {
			List<DeviceBuffer> floats = List.of(buffer(0, 1), buffer(1, 2), buffer(2, 3));
			List<DeviceBuffer> longer = List.of(floats.get(0), buffer(1, 4, 5), floats.get(2));
			List<DeviceBuffer> mixed = List.of(floats.get(0), floats.get(1), bytes);
			assertThatIllegalArgumentException().isThrownBy(() -> group.allReduce(operands(longer), SUM))
				.withMessage("every rank needs the same count and type for all-reduce, got 1 of float32 on rank 0 and "
						+ "2 of float32 on rank 1");
			assertThatIllegalArgumentException().isThrownBy(() -> group.broadcast(operands(mixed), 0))
				.withMessage("every rank needs the same count and type for broadcast, got 1 of float32 on rank 0 and "
						+ "1 of int8 on rank 2");
			assertThat(this.nccl.calls).doesNotContain("groupStart");
		}
	}

	private DeviceBuffer bytes(int device) {
		return DeviceBuffer.allocate(this.devices, device, 1, DeviceDataType.INT8);
	}

	@Test
	void theCallersDeviceIsRestored() {
		this.devices.selectDevice(3);
		try (CommunicatorGroup group = group(List.of(0, 1))) {
			group.allReduce(operands(buffers(group, 1, 2)), SUM);
			group.synchronize(LONG);
			assertThat(this.devices.currentDevice()).isEqualTo(3);
		}
		assertThat(this.devices.currentDevice()).isEqualTo(3);
	}

	@Test
	void aSplitTransfersOwnershipToTheWorkers() throws Exception {
		CommunicatorGroup group = group(List.of(1, 2));
		List<RankCommunicator> ranks = group.split(LONG);
		assertThat(group.size()).isZero();
		assertThatIllegalStateException().isThrownBy(() -> group.split(LONG))
			.withMessage("split: the communicators were transferred by an earlier split");
		group.close();
		group.abort();
		assertThat(this.nccl.calls).doesNotContain("commDestroy", "commAbort");
		List<Float> sums = RankThreads.run(2, LONG, (rank) -> {
			try (RankCommunicator own = ranks.get(rank);
					DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, own.device(), 1,
							DeviceDataType.FLOAT32)) {
				HostDevices.write(buffer.address(), rank + 1);
				own.operations().allReduce(DeviceOperands.inPlace(buffer), SUM);
				own.synchronize();
				return HostDevices.read(buffer.address(), 1)[0];
			}
		});
		assertThat(sums).containsExactly(3f, 3f);
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
	}

	@Test
	void aCloseDestroysAndAnErrorAbortsEachCommunicatorOnce() {
		CommunicatorGroup whole = group(List.of(0, 1));
		whole.close();
		whole.close();
		whole.abort();
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
		assertThat(this.nccl.count("commAbort")).isZero();
		CommunicatorGroup broken = group(List.of(0, 1));
		List<DeviceOperands> operands = operands(buffers(broken, 1, 2));
		this.nccl.answers("groupEnd", NcclResult.SYSTEM_ERROR).lastError = "no buffer space";
		assertThatExceptionOfType(NcclException.class).isThrownBy(() -> broken.allReduce(operands, SUM))
			.withMessageContaining("no buffer space")
			.withMessageContaining("NCCL_SOCKET_IFNAME");
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
		broken.close();
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
	}

	@Test
	void aCloseDuringAStuckNativeCallAbortsAndDestroysNothing() {
		CountDownLatch release = new CountDownLatch(1);
		CommunicatorGroup group = group(List.of(0, 1));
		List<DeviceOperands> operands = operands(buffers(group, 1, 2));
		this.nccl.blocks("allReduce", release);
		CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> group.allReduce(operands, SUM),
				OwnThread.EXECUTOR);
		Awaitility.await().until(() -> this.nccl.count("allReduce") == 1);
		group.close();
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
		assertThat(this.nccl.count("commDestroy")).isZero();
		release.countDown();
		assertThat(stuck).failsWithin(LONG);
		assertThatExceptionOfType(NcclException.class).isThrownBy(() -> group.allReduce(operands, SUM));
	}

	@Test
	void anAbortDuringACallSkipsTheLaterRanks() {
		CountDownLatch release = new CountDownLatch(1);
		CommunicatorGroup group = group(List.of(0, 1));
		List<DeviceOperands> operands = operands(buffers(group, 1, 2));
		this.nccl.blocks("broadcast", release);
		CompletableFuture<Void> stuck = CompletableFuture.runAsync(() -> group.broadcast(operands, 0),
				OwnThread.EXECUTOR);
		Awaitility.await().until(() -> this.nccl.count("broadcast") == 1);
		group.abort();
		release.countDown();
		assertThat(stuck).failsWithin(LONG).withThrowableThat().withMessageContaining("aborted");
		assertThat(this.nccl.count("broadcast")).isEqualTo(1);
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
	}

	@Test
	void anInterruptedThreadClosesWithoutAborting() {
		CommunicatorGroup group = group(List.of(0, 1));
		Thread.currentThread().interrupt();
		group.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
		assertThat(this.nccl.count("commAbort")).isZero();
	}

	@Test
	void anInterruptedWaitIsAnAbortNotATimeout() {
		CommunicatorGroup group = group(List.of(0, 1));
		this.devices.queue(11, () -> false);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(NcclException.class).isThrownBy(() -> group.synchronize(List.of(11L, 12L), LONG))
			.withMessageContaining("the calling thread was interrupted");
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
	}

	@Test
	void aFailedDeviceSelectionDoesNotKeepOtherRanksOpen() {
		CommunicatorGroup group = group(List.of(0, 1, 2));
		this.devices.lost = 1;
		assertThatExceptionOfType(DeviceException.class).isThrownBy(group::close);
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
		group.close();
		assertThat(this.nccl.count("commDestroy")).isEqualTo(2);
	}

	/** An open NCCL group would swallow every later call of this thread. */
	@Test
	void aDeviceThatCannotBeSelectedForACallEndsTheCommunicatorsAndTheGroupOfCalls() {
		CommunicatorGroup group = group(List.of(0, 1));
		List<DeviceOperands> operands = operands(buffers(group, 1, 2));
		this.devices.lost = 1;
		assertThatExceptionOfType(DeviceException.class).isThrownBy(() -> group.allReduce(operands, SUM));
		assertThat(this.nccl.count("groupEnd")).isEqualTo(this.nccl.count("groupStart")).isOne();
		assertThat(group.size()).isZero();
		assertThat(this.nccl.count("commAbort")).isEqualTo(2);
	}

	private CommunicatorGroup group(List<Integer> chosen) {
		return CommunicatorGroup.create(this.nccl.library(), chosen);
	}

	private List<DeviceBuffer> buffers(CommunicatorGroup group, float... values) {
		List<DeviceBuffer> buffers = new ArrayList<>();
		for (int rank = 0; rank < values.length; rank++) {
			buffers.add(buffer(group.devices().get(rank), values[rank]));
		}
		return buffers;
	}

	private DeviceBuffer buffer(int device, float... values) {
		DeviceBuffer buffer = DeviceBuffer.allocate(this.devices, device, values.length, DeviceDataType.FLOAT32);
		HostDevices.write(buffer.address(), values);
		return buffer;
	}

	private static List<DeviceOperands> operands(List<DeviceBuffer> send, List<DeviceBuffer> receive) {
		return List.of(DeviceOperands.of(send.get(0), receive.get(0)), DeviceOperands.of(send.get(1), receive.get(1)));
	}

	private static List<DeviceOperands> operands(List<DeviceBuffer> buffers) {
		return buffers.stream().map(DeviceOperands::inPlace).toList();
	}

	private static List<Float> firsts(List<DeviceBuffer> buffers) {
		return buffers.stream().map((buffer) -> HostDevices.read(buffer.address(), 1)[0]).toList();
	}

}
