package io.tutti.engine.backend;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;

import io.tutti.BackendUnavailableException;
import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.FreePort;
import io.tutti.GroupAbortedException;
import io.tutti.GroupState;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.Transfer;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.nccl.DeviceOperands;
import io.tutti.engine.backend.nccl.DeviceReduction;
import io.tutti.engine.backend.nccl.HostDevices;
import io.tutti.engine.backend.nccl.NcclBootstrap;
import io.tutti.engine.backend.nccl.NcclGroup;
import io.tutti.engine.backend.nccl.ScriptedGpus;
import io.tutti.engine.backend.nccl.StreamOperations;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.HostFallback;
import io.tutti.engine.device.InPlaceCalls;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * The backend for device memory in whole ranks: real rendezvous, control plane and TCP, a
 * scripted NCCL on top.
 */
@Timeout(120)
class NcclEngineTest {

	/** Limit of this test for what takes milliseconds on an idle machine. */
	private static final Duration LIMIT = Duration.ofSeconds(60);

	/**
	 * Time limits of the engine are out of reach: a failure that came only with a
	 * heartbeat or at the deadline of a call would not come before {@link #LIMIT}.
	 */
	private static final Duration LONG = Duration.ofHours(1);

	private static final EngineSettings SETTINGS = new EngineSettings("nccl", "default", null, -1, null, null, null, 0,
			EngineSettings.DEFAULTS.congestionControl(), EngineSettings.DEFAULTS.sharedConfig(),
			new Timeouts(LIMIT, LONG, LONG, LONG, LONG), null);

	private final ScriptedGpus gpus = new ScriptedGpus(4);

	@Test
	void deviceAndHostMemoryAlternateInOneIssueOrder() throws Exception {
		List<float[]> results = onRanks(3, (group) -> {
			DeviceCollectives onDevice = collectives(group, LONG);
			float rank = group.rank();
			try (DeviceBuffer one = buffer(group, rank + 1);
					DeviceBuffer sum = onDevice.allReduce(one, ReduceOp.SUM);
					DeviceBuffer all = onDevice.allGather(one);
					DeviceBuffer part = onDevice.reduceScatter(all, ReduceOp.MAX)) {
				float[] host = { rank };
				group.allReduce(host, ReduceOp.MAX);
				onDevice.broadcastInPlace(one, 2);
				group.barrier();
				assertThat(group.lastEntered()).isEqualTo(5);
				return new float[] { read(sum), HostDevices.read(all.address(), 3)[1], read(part), host[0], read(one) };
			}
		});
		for (int rank = 0; rank < 3; rank++) {
			assertThat(results.get(rank)).containsExactly(6, 2, rank + 1, 2, 3);
		}
		assertThat(this.gpus.calls("commDestroy")).isEqualTo(3);
	}

	@Test
	void everyInPlaceCollectiveRunsOnTheDevice() throws Exception {
		List<String> warnings = new CopyOnWriteArrayList<>();
		CollectiveListener listener = new CollectiveListener() {
			@Override
			public void warn(String message) {
				warnings.add(message);
			}
		};
		onRanks(3, (group) -> {
			DeviceCollectives onDevice = new DeviceCollectives(group, this.gpus.devices(), new HostFallback(true),
					listener, LONG);
			InPlaceCalls.check(this.gpus.devices(), onDevice, group.rank(), 3, 5);
			return null;
		});
		assertThat(warnings).isEmpty();
		assertThat(this.gpus.calls("allGather") + this.gpus.calls("gather")).isEqualTo(6);
		assertThat(this.gpus.devices().copies()).isZero();
	}

	@Test
	void scatterIgnoresTheSendBufferOfOtherRanksThanTheRoot() throws Exception {
		List<float[]> results = onRanks(2, (group) -> {
			DeviceBuffer send = buffer(group, 1, 2);
			if (group.rank() == 1) {
				send.close();
			}
			try (DeviceBuffer receive = buffer(group, 0)) {
				collectives(group, LONG).scatter(send, receive, 0);
				return new float[] { read(receive) };
			}
			finally {
				send.close();
			}
		});
		assertThat(results).containsExactly(new float[] { 1 }, new float[] { 2 });
	}

	@Test
	void partsMayLieInPlaceAndOtherOverlapsAreRejected() throws Exception {
		onRanks(2, (group) -> {
			MemorySegment host = Arena.ofAuto().allocate(16);
			MemorySegment own = host.asSlice(8L * group.rank(), 8);
			own.setAtIndex(ValueLayout.JAVA_FLOAT, 1, group.rank() + 1);
			group.allGather(own, host, DataType.FLOAT32);
			assertThat(host.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0, 1, 0, 2);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> group.allGather(host.asSlice(4, 8), host, DataType.FLOAT32))
				.withMessageContaining("must not overlap");
			try (DeviceBuffer whole = buffer(group, 1, 2, 3, 4)) {
				MemorySegment device = segment(whole);
				assertThatIllegalArgumentException()
					.isThrownBy(() -> group.allGather(device.asSlice(4, 8), device, DataType.FLOAT32))
					.withMessageContaining("must not overlap");
			}
			return null;
		});
		assertThat(this.gpus.calls("allGather")).isZero();
	}

	@Test
	void aCallOnUnusableMemoryIsRejectedAndTheGroupStaysUsable() throws Exception {
		List<float[]> results = onRanks(2, (group) -> {
			MemorySegment host = Arena.ofAuto().allocate(8);
			try (DeviceBuffer own = buffer(group, 1, 2);
					DeviceBuffer other = buffer(group, 3, 4);
					DeviceBuffer elsewhere = buffer(this.gpus.devices(), 2, 1, 2)) {
				MemorySegment device = segment(own);
				MemorySegment remote = segment(elsewhere);
				for (Runnable call : List.<Runnable>of(() -> group.allReduce(remote, DataType.FLOAT32, ReduceOp.SUM),
						() -> group.allReduceAsync(remote, DataType.FLOAT32, ReduceOp.SUM),
						() -> group.allReduce(List.of(host, remote), DataType.FLOAT32, ReduceOp.SUM),
						() -> group.broadcast(remote, DataType.FLOAT32, 0))) {
					assertThatIllegalArgumentException().isThrownBy(call::run)
						.withMessageStartingWith("rank " + group.rank() + " of group world: ")
						.withMessageEndingWith(": the group works on device " + group.rank()
								+ " on this rank, the buffer is on device 2");
				}
				assertThatIllegalArgumentException()
					.isThrownBy(() -> group.allReduce(device, host, DataType.FLOAT32, ReduceOp.SUM))
					.withMessage("rank " + group.rank()
							+ " of group world: all-reduce: both buffers must be on the device or both in host memory; "
							+ "the send buffer is on the device");
				assertThatIllegalArgumentException()
					.isThrownBy(() -> group.allReduce(host, device, DataType.FLOAT32, ReduceOp.SUM))
					.withMessageEndingWith("the send buffer is in host memory");
				long[] ones = { 1, 1 };
				assertUnsupported(() -> group.allToAll(device, ones, segment(other), ones, DataType.FLOAT32),
						"a call with counts by rank is not offered on device memory; pad the parts to one size");
				assertUnsupported(() -> group.scan(device, device, DataType.FLOAT32, ReduceOp.SUM),
						"NCCL has no scan; use buffers in host memory");
				assertUnsupported(() -> group.exclusiveScanAsync(device, device, DataType.FLOAT32, ReduceOp.SUM),
						"NCCL has no " + Collective.EXCLUSIVE_SCAN + "; use buffers in host memory");
				assertUnsupported(() -> group.allReduce(device, DataType.INT32, ReduceOp.BITWISE_XOR),
						"NCCL has no operator " + ReduceOp.BITWISE_XOR + "; use buffers in host memory");
				assertThat(group.lastEntered()).isEqualTo(-1);
				group.scan(host, host, DataType.FLOAT32, ReduceOp.SUM);
				collectives(group, LONG).allReduceInPlace(own, ReduceOp.SUM);
				return new float[] { read(own) };
			}
		});
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(2));
		assertThat(this.gpus.calls("allReduce")).isEqualTo(2);
	}

	@Test
	void aMessageInDeviceMemoryIsRejectedBeforeAnythingIsSent() throws Exception {
		onRanks(2, (group) -> {
			int peer = 1 - group.rank();
			MemorySegment host = Arena.ofAuto().allocate(4);
			try (DeviceBuffer own = buffer(group, group.rank() + 1)) {
				MemorySegment device = segment(own);
				for (Runnable call : List.<Runnable>of(() -> group.send(device, DataType.FLOAT32, peer, 0),
						() -> group.sendAsync(device, DataType.FLOAT32, peer, 0),
						() -> group.receive(device, DataType.FLOAT32, peer, 0),
						() -> group.receiveAny(device, DataType.FLOAT32, peer, 0),
						() -> group.receiveAsync(device, DataType.FLOAT32, peer, 0),
						() -> group.sendReceive(device, peer, host, peer, DataType.FLOAT32, 0),
						() -> group.sendReceive(host, peer, device, peer, DataType.FLOAT32, 0),
						() -> group.startAll(List.of(Transfer.send(host, DataType.FLOAT32, peer, 0),
								Transfer.receive(device, DataType.FLOAT32, peer, 0))))) {
					assertUnsupported(call,
							"messages need host memory, the buffer is on device " + group.rank()
									+ "; use a collective or a send of an NCCL rank communicator, "
									+ "or copy the data to host memory");
				}
				host.set(ValueLayout.JAVA_FLOAT, 0, group.rank());
				MemorySegment received = Arena.ofAuto().allocate(4);
				group.sendReceive(host, peer, received, peer, DataType.FLOAT32, 0);
				assertThat(received.get(ValueLayout.JAVA_FLOAT, 0)).isEqualTo(peer);
				assertThat(group.tryProbe(peer, 0)).isNull();
			}
			return null;
		});
	}

	private static void assertUnsupported(Runnable call, String message) {
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(call::run)
			.withMessageMatching("rank [01] of group world: [a-z-]+: " + Pattern.quote(message));
	}

	@SuppressWarnings("restricted") // as large as the buffer
	private static MemorySegment segment(DeviceBuffer buffer) {
		return MemorySegment.ofAddress(buffer.address()).reinterpret(buffer.bytes());
	}

	@Test
	void aBufferOnAnotherDeviceIsRejectedBeforeNcclIsCalled() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(1, (group) -> {
			try (DeviceBuffer elsewhere = buffer(this.gpus.devices(), 2, 1)) {
				collectives(group, LONG).allReduceInPlace(elsewhere, ReduceOp.SUM);
			}
			return null;
		});
		assertThat(outcomes.getFirst().failure()).isInstanceOf(IllegalArgumentException.class)
			.hasMessage("rank 0 of group world: all-reduce: the group works on device 0 on this rank, "
					+ "the buffer is on device 2");
		assertThat(this.gpus.calls("allReduce")).isZero();
	}

	@Test
	void theCommunicatorAndItsStreamAreReachedFromTheGroup() throws Exception {
		List<float[]> results = onRanks(2, (group) -> {
			NcclGroup nccl = NcclGroup.of(group.withTimeout(LONG));
			assertThat(nccl.communicator().rank()).isEqualTo(group.rank());
			assertThat(nccl.communicator().device()).isEqualTo(group.rank());
			assertThat(nccl.stream()).isEqualTo(nccl.operations().stream());
			long stream = this.gpus.devices().createStream();
			try (DeviceBuffer one = buffer(group, group.rank() + 1); DeviceBuffer two = buffer(group, group.rank())) {
				nccl.operations().allReduce(DeviceOperands.inPlace(one), DeviceReduction.of(ReduceOp.SUM));
				nccl.synchronize();
				StreamOperations ownStream = nccl.operations(stream);
				assertThat(ownStream.stream()).isEqualTo(stream);
				ownStream.allReduce(DeviceOperands.inPlace(two), DeviceReduction.of(ReduceOp.MAX));
				ownStream.synchronize();
				group.barrier();
				return new float[] { read(one), read(two) };
			}
		});
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(3, 1));
	}

	/** As the group that a Spring application injects. */
	@Test
	void theCommunicatorIsReachedThroughAProxyOfTheGroup() throws Exception {
		try (Engine engine = join(0, 1, FreePort.next(), this.gpus.bootstrap(0))) {
			ProcessGroup proxy = (ProcessGroup) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { ProcessGroup.class },
					(_, method, arguments) -> method.invoke(engine.world(), arguments));
			assertThat(NcclGroup.of(proxy).communicator()).isSameAs(NcclGroup.of(engine.world()).communicator());
		}
	}

	@Test
	void aGroupOfAnotherBackendHasNoCommunicator() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			assertThatExceptionOfType(UnsupportedOperationException.class)
				.isThrownBy(() -> NcclGroup.of(world.group(0)))
				.withMessage(
						"group world runs on simulated, which has no NCCL communicator. Start with the profile nccl");
		}
	}

	@Test
	void aSingleRankRunsOnTheDevice() throws Exception {
		List<float[]> results = onRanks(1, (group) -> {
			try (DeviceBuffer own = buffer(group, 5, 6);
					DeviceBuffer mean = collectives(group, LONG).allReduce(own, ReduceOp.AVERAGE);
					DeviceBuffer all = collectives(group, LONG).allGather(own)) {
				return new float[] { read(mean), read(all), all.count() };
			}
		});
		assertThat(results.getFirst()).containsExactly(5, 5, 2);
		assertThat(this.gpus.calls("allReduce")).isOne();
		assertThat(this.gpus.calls("allGather")).isOne();
	}

	/** To select another device, or not to select one, would allocate memory there. */
	@Test
	void aRankUsesMemoryOfItsOwnDeviceOnly() throws Exception {
		int port = FreePort.next();
		try (Engine engine = join(0, 1, port, this.gpus.bootstrap(2))) {
			ProcessGroup group = engine.world();
			try (DeviceBuffer one = buffer(this.gpus.devices(), 2, 5)) {
				CompletableFuture.runAsync(() -> {
					group.allReduce(segment(one), DataType.FLOAT32, ReduceOp.SUM);
					group.send(Arena.ofAuto().allocate(4), DataType.FLOAT32, 0, 0);
					collectives(group, LONG).allReduce(one, ReduceOp.SUM).close();
				}, OwnThread.EXECUTOR).get();
				NcclGroup.of(group).communicator().barrier();
			}
		}
		assertThat(this.gpus.devices().used()).containsExactly(2);
	}

	@Test
	void aSubgroupHasItsOwnCommunicator() throws Exception {
		List<float[]> results = onRanks(3, (group) -> {
			try (ProcessGroup part = group.split((group.rank() == 1) ? -1 : 0, group.rank())) {
				if (part == null) {
					return new float[] { -1 };
				}
				try (DeviceBuffer one = buffer(group, group.rank() + 1);
						DeviceBuffer sum = collectives(part, LONG).allReduce(one, ReduceOp.SUM)) {
					return new float[] { part.worldSize(), read(sum) };
				}
			}
		});
		assertThat(results.get(0)).containsExactly(2, 4);
		assertThat(results.get(1)).containsExactly(-1);
		assertThat(results.get(2)).containsExactly(2, 4);
	}

	@Test
	void anAbortThatTakesLongDoesNotSilenceTheControlPlane() throws Exception {
		CountDownLatch release = new CountDownLatch(1);
		this.gpus.block("commAbort", release);
		onRanks(2, (group) -> {
			try (ProcessGroup first = group.split(0, group.rank());
					ProcessGroup second = group.split(0, group.rank())) {
				if (group.rank() == 1) {
					first.abort("the first");
					second.abort("the second");
				}
				Awaitility.await().atMost(LIMIT.dividedBy(2)).until(() -> second.state() == GroupState.BROKEN);
			}
			finally {
				release.countDown();
			}
			return null;
		});
		assertThat(this.gpus.calls("commAbort")).isEqualTo(4);
	}

	@Test
	void aMismatchOnTheDeviceIsReportedBeforeTheDeadline() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			DeviceCollectives onDevice = collectives(group, LONG);
			DeviceBuffer two = buffer(group, 1, 2);
			if (group.rank() == 0) {
				onDevice.allReduceInPlace(two, ReduceOp.SUM);
			}
			else {
				onDevice.broadcastInPlace(two, 0);
			}
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("rank 0 called all-reduce #0 (count 2, float32, sum)")
				.hasMessageContaining("rank 1 called broadcast #0 (count 2, float32, root 0)"));
		assertThat(this.gpus.calls("commAbort")).isEqualTo(2);
	}

	@Test
	void aMismatchOfOnlyTheMemoryKindIsReportedBeforeTheDeadline() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			if (group.rank() == 0) {
				group.allReduce(new float[2], ReduceOp.SUM);
			}
			else {
				collectives(group, LONG).allReduceInPlace(buffer(group, 1, 2), ReduceOp.SUM);
			}
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("rank 0 called all-reduce #0 (count 2, float32, sum) in host memory, "
						+ "rank 1 called all-reduce #0 (count 2, float32, sum) on the device"));
		assertThat(this.gpus.calls("commAbort")).isEqualTo(2);
	}

	/**
	 * Rank 0 queries the late rank before its call has begun, so before its memory kind
	 * is known.
	 */
	@Test
	void aLateRankOnTheDeviceCausesNoMismatch() throws Exception {
		CompletableFuture<DefaultProcessGroup> waiting = new CompletableFuture<>();
		List<float[]> results = onRanks(2, (group) -> {
			if (group.rank() == 0) {
				waiting.complete(group);
			}
			else {
				Awaitility.await().atMost(LIMIT).until(() -> {
					CallRecord call = waiting.get().recorder().running();
					return call != null && System.nanoTime() - call.startedNanos() > Duration.ofMillis(300).toNanos();
				});
			}
			try (DeviceBuffer one = buffer(group, 1)) {
				collectives(group, LONG).allReduceInPlace(one, ReduceOp.SUM);
				group.barrier();
				return new float[] { read(one) };
			}
		});
		assertThat(results).allSatisfy((result) -> assertThat(result).containsExactly(2));
	}

	/**
	 * The root waits for no other rank, so it reports its memory kind only when rank 0
	 * queries it.
	 */
	@Test
	void theMemoryKindOfAnEndedCallIsKept() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			if (group.rank() == 0) {
				group.broadcast(new float[1], 0);
				Awaitility.await().atMost(LIMIT).until(() -> group.state() == GroupState.BROKEN);
				group.barrier();
			}
			else {
				collectives(group, LONG).broadcastInPlace(buffer(group, 1), 0);
			}
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("in host memory")
				.hasMessageContaining("on the device"));
	}

	@Test
	void aMismatchIsDetectedAlthoughNcclCompletesTheCalls() throws Exception {
		this.gpus.forgive();
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			collectives(group, LONG).allReduceInPlace(buffer(group, 1),
					(group.rank() == 0) ? ReduceOp.SUM : ReduceOp.MAX);
			Awaitility.await().atMost(LIMIT).until(() -> group.state() == GroupState.BROKEN);
			group.barrier();
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("sum")
				.hasMessageContaining("max"));
	}

	@Test
	void oneMismatchAmongManyCallsIsDetectedAlthoughNcclCompletesThem() throws Exception {
		this.gpus.forgive();
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			DeviceCollectives onDevice = collectives(group, LONG);
			DeviceBuffer buffer = buffer(group, 1);
			for (int call = 0; call < 400; call++) {
				boolean differs = call == 150 && group.rank() == 1;
				onDevice.allReduceInPlace(buffer, differs ? ReduceOp.MIN : ReduceOp.MAX);
			}
			Awaitility.await().atMost(LIMIT).until(() -> group.state() == GroupState.BROKEN);
			group.barrier();
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("rank 0 called all-reduce #150 (count 1, float32, max)")
				.hasMessageContaining("rank 1 called all-reduce #150 (count 1, float32, min)"));
		assertThat(this.gpus.calls("commAbort")).isEqualTo(2);
	}

	@Test
	void theFlightRecorderAndTheTotalsIncludeDeviceCalls() throws Exception {
		onRanks(2, (group) -> {
			DeviceCollectives onDevice = collectives(group, LONG);
			try (DeviceBuffer three = buffer(group, 1, 2, 3)) {
				onDevice.allReduceInPlace(three, ReduceOp.MAX);
				onDevice.broadcastInPlace(three, 1);
				group.barrier();
			}
			List<CallRecord> calls = group.recorder().latest(10);
			assertThat(calls).extracting((call) -> call.call().collective(), CallRecord::state, CallRecord::bytes)
				.containsExactly(tuple(Collective.ALL_REDUCE, CallRecord.State.DONE, 12L),
						tuple(Collective.BROADCAST, CallRecord.State.DONE, 12L),
						tuple(Collective.BARRIER, CallRecord.State.DONE, 0L));
			assertThat(calls).extracting(CallRecord::algorithm).startsWith("nccl", "nccl").last().isNotEqualTo("nccl");
			assertThat(group.recorder().totals(Collective.ALL_REDUCE))
				.satisfies((totals) -> assertThat(totals.success().count()).isOne())
				.satisfies((totals) -> assertThat(totals.bytes()).isEqualTo(12))
				.satisfies((totals) -> assertThat(totals.success().nanos()).isPositive());
			return null;
		});
	}

	@Test
	void aCallWithAMissingRankEndsAtItsDeadline() throws Exception {
		CompletableFuture<Void> over = new CompletableFuture<>();
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			if (group.rank() == 1) {
				over.get();
				// The verdict reaches each rank over its own control connection.
				Awaitility.await().atMost(LIMIT).until(() -> group.failure() != null);
				throw CollectiveException.of(1, 4, group.failure(), null);
			}
			try {
				collectives(group, Duration.ofMillis(300)).allReduceInPlace(buffer(group, 1), ReduceOp.SUM);
				return null;
			}
			finally {
				over.complete(null);
			}
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveTimeoutException.class)
				.satisfies((failure) -> assertThat(((CollectiveException) failure).failure().kind())
					.isEqualTo(Failure.Kind.TIMEOUT)));
		assertThat(this.gpus.calls("commAbort")).isEqualTo(2);
	}

	@Test
	void aCallEndsWhenARankItNeedsLeavesTheGroup() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			ProcessGroup part = group.split(0, group.rank());
			if (group.rank() == 1) {
				part.close();
				group.barrier();
				return null;
			}
			try (DeviceBuffer one = buffer(group, 1)) {
				assertThatExceptionOfType(CollectiveException.class)
					.isThrownBy(() -> collectives(part, LONG).allReduceInPlace(one, ReduceOp.SUM))
					.withMessageContaining("it has left the group");
			}
			group.barrier();
			return null;
		});
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
	}

	@Test
	void anAbortEndsACallThatWaitsOnTheDeviceOnEveryRank() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(3, (group) -> {
			if (group.rank() == 2) {
				group.abort("the test asked for it");
				throw CollectiveException.of(2, 4, group.failure(), null);
			}
			collectives(group, LONG).allReduceInPlace(buffer(group, 1), ReduceOp.SUM);
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("the test asked for it")
				.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.ABORTED)));
	}

	@Test
	void anInterruptIsTheReasonOnEveryRank() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			if (group.rank() == 1) {
				Thread.currentThread().interrupt();
			}
			group.allReduce(segment(buffer(group, 1)), DataType.FLOAT32, ReduceOp.SUM);
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("broken by rank 1: ")
				.hasMessageContaining("the calling thread was interrupted")
				.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.PEER_LOST)));
	}

	/** Otherwise the other ranks would wait for the call of such a rank. */
	@Test
	void aCallAfterAFailureOfTheDeviceBreaksTheGroup() throws Exception {
		List<RankThreads.Outcome<float[]>> outcomes = outcomes(2, (group) -> {
			MemorySegment whole = Arena.ofAuto().allocate(8);
			group.barrier();
			this.gpus.devices().breakDown();
			group.allGather(whole.asSlice(4L * group.rank(), 4), whole, DataType.FLOAT32);
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("an illegal memory access was encountered"));
	}

	@Test
	void oneRankWithoutNcclPreventsTheStartAndIsNamed() throws Exception {
		int port = FreePort.next();
		List<RankThreads.Outcome<Object>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
			NcclBootstrap nccl = (rank == 0) ? this.gpus.bootstrap(0) : ScriptedGpus.without("no device: none here");
			join(rank, 2, port, nccl).close();
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(BackendUnavailableException.class)
				.hasMessageContaining("rank 1 cannot use it")
				.hasMessageContaining("no device: none here"));
	}

	@Test
	void aCudaRuntimeThatRejectsTheDriverPreventsTheStartWithAReason() throws Exception {
		int port = FreePort.next();
		ScriptedGpus old = new ScriptedGpus(2);
		old.devices().refuseDriver();
		List<RankThreads.Outcome<Object>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
			join(rank, 2, port, ((rank == 0) ? this.gpus : old).bootstrap(rank)).close();
			return null;
		});
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(BackendUnavailableException.class)
				.hasMessageContaining("rank 1 cannot use it: cudaGetDeviceCount failed: CUDA driver version is "
						+ "insufficient for CUDA runtime version (35)"));
	}

	private static DeviceBuffer buffer(HostDevices devices, int device, float... values) {
		DeviceBuffer buffer = DeviceBuffer.allocate(devices, device, values.length, DeviceDataType.FLOAT32);
		HostDevices.write(buffer.address(), values);
		return buffer;
	}

	private DeviceBuffer buffer(ProcessGroup world, float... values) {
		return buffer(this.gpus.devices(), world.rank(), values);
	}

	private static float read(DeviceBuffer buffer) {
		return HostDevices.read(buffer.address(), 1)[0];
	}

	private DeviceCollectives collectives(ProcessGroup group, Duration timeout) {
		return new DeviceCollectives(group, this.gpus.devices(), new HostFallback(false), CollectiveListener.NONE,
				timeout);
	}

	private interface Task {

		float[] on(DefaultProcessGroup group) throws Exception;

	}

	private List<float[]> onRanks(int worldSize, Task task) throws Exception {
		int port = FreePort.next();
		return RankThreads.run(worldSize, LIMIT, (rank) -> onRank(rank, worldSize, port, task));
	}

	private List<RankThreads.Outcome<float[]>> outcomes(int worldSize, Task task) throws Exception {
		int port = FreePort.next();
		return RankThreads.outcomes(worldSize, LIMIT, (rank) -> onRank(rank, worldSize, port, task));
	}

	private float[] onRank(int rank, int worldSize, int port, Task task) throws Exception {
		try (Engine engine = join(rank, worldSize, port, this.gpus.bootstrap(rank))) {
			assertThat(engine.world().backend()).isEqualTo("nccl");
			return task.on(engine.world());
		}
	}

	private static Engine join(int rank, int worldSize, int port, NcclBootstrap nccl) {
		RankAssignment assignment = new RankAssignment(rank, worldSize, rank, worldSize, "127.0.0.1", port);
		return Engine.bootstrap(assignment, SETTINGS, CollectiveListener.NONE, nccl::over);
	}

}
