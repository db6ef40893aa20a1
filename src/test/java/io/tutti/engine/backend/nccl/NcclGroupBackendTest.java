package io.tutti.engine.backend.nccl;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.Failure;
import io.tutti.engine.failure.FailureLatch;
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

	private final ScriptedNccl nccl = new ScriptedNccl(new HostDevices(1));

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

	@Test
	void anErrorBetweenCallsIsReported() {
		fail();
		Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> !this.reports.isEmpty());
		assertThat(this.reports).singleElement()
			.satisfies((failure) -> assertThat(failure.ranks()).containsExactly(5))
			.satisfies((failure) -> assertThat(failure.detail()).contains("another rank failed or was lost")
				.as("the rank in the communicator is not that in the job")
				.doesNotContain("rank 0"));
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
