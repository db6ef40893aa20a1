package io.tutti.engine.backend.nccl;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What rank 5 of a job, alone in a group, reports of NCCL's asynchronous errors.
 */
@Timeout(60)
class NcclGroupBackendTest {

	private static final GroupIdentity IDENTITY = new GroupIdentity("part", 0, List.of(5), 0);

	private final HostDevices devices = new HostDevices(1);

	private final ScriptedNccl nccl = new ScriptedNccl(this.devices);

	private final FailureLatch latch = new FailureLatch();

	private final List<Failure> reports = new CopyOnWriteArrayList<>();

	private final NcclGroupBackend backend = (NcclGroupBackend) new NcclBootstrap(this.nccl::library, 0).over(IDENTITY,
			noHost(), this.latch, this.reports::add, (mine, _) -> new byte[][] { mine },
			Deadline.after(Duration.ofHours(1)));

	/** A backend for host memory that does nothing. */
	static GroupBackend noHost() {
		return (GroupBackend) Proxy.newProxyInstance(GroupBackend.class.getClassLoader(),
				new Class<?>[] { GroupBackend.class }, (_, _, _) -> null);
	}

	@AfterEach
	void close() {
		this.backend.close();
	}

	private void fail() {
		this.nccl.fail(this.backend.communicator().handle(), NcclResult.REMOTE_ERROR);
	}

	private Failure report() {
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !this.reports.isEmpty());
		return this.reports.getFirst();
	}

	private void allReduce(long sequence) {
		long bytes = 4;
		long address = this.devices.allocate(bytes);
		Call call = new Call(1, null);
		call.deadline().restart(System.nanoTime(), TimeUnit.HOURS.toNanos(1));
		call.describe(sequence, Collective.ALL_REDUCE, 1, DataType.FLOAT32, ReduceOp.SUM, 0);
		call.place(address, bytes, address, bytes);
		try {
			this.backend.run(call);
		}
		finally {
			this.devices.free(address);
		}
	}

	/** It may be a consequence of the deadline that the others have missed. */
	@Test
	void anErrorBetweenCallsIsReportedAsAFailureOfNoCallAndNoRank() {
		allReduce(7);
		fail();
		assertThat(report()).satisfies((failure) -> assertThat(failure.sequence()).isEqualTo(-1))
			.satisfies((failure) -> assertThat(failure.collective()).isNull())
			.satisfies((failure) -> assertThat(failure.ranks()).isEmpty())
			.satisfies((failure) -> assertThat(failure.detail()).contains("rank 5 ")
				.contains("another rank failed or was lost")
				.as("the rank in the communicator is not that in the job")
				.doesNotContain("rank 0"));
	}

	@Test
	void anErrorDuringACallIsReportedAsItsFailure() {
		this.devices.queue(this.backend.communicator().operations().stream(), () -> false);
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> allReduce(7), Thread::startVirtualThread);
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> this.nccl.calls.contains("allReduce"));
		fail();
		assertThat(report()).satisfies((failure) -> assertThat(failure.sequence()).isEqualTo(7))
			.satisfies((failure) -> assertThat(failure.collective()).isEqualTo(Collective.ALL_REDUCE))
			.satisfies((failure) -> assertThat(failure.ranks()).containsExactly(5));
		assertThat(call).completesExceptionallyWithin(Duration.ofSeconds(30));
	}

	@Test
	void anErrorAfterTheVerdictIsNotReported() {
		this.latch.trip(Failure.outside(Failure.Kind.PEER_LOST, "part", List.of(6), "its process ended"));
		fail();
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(NcclGroupBackendTest::watchdogHasEnded);
		assertThat(this.reports).isEmpty();
	}

	private static boolean watchdogHasEnded() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().equals("tutti-r5-nccl-watchdog"));
	}

}
