package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.OwnThread;
import io.tutti.PeerLostException;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Creation of the communicator of rank 0 of two, of which rank 1 reports that it is ready
 * and creates none.
 */
@Timeout(60)
class NcclBootstrapTest {

	private static final Duration LONG = Duration.ofHours(1);

	private final HostDevices devices = new HostDevices(2);

	private final ScriptedNccl nccl = new ScriptedNccl(this.devices);

	/** What rank 0 reports. */
	private final byte[] ready = RecordCodec
		.encode(new NcclBootstrap.Readiness(RankCommunicator.newId(this.nccl.library()).asBytes(), null));

	private final FailureLatch latch = new FailureLatch();

	private final List<Failure> reports = new CopyOnWriteArrayList<>();

	private void create(Duration limit) {
		create(0, this.latch, limit);
	}

	private GroupBackend create(int rank, FailureLatch failures, Duration limit) {
		return new NcclBootstrap(this.nccl::library, rank).over(GroupIdentity.world(rank, 2, 0),
				NcclGroupBackendTest.noHost(), failures, this.reports::add,
				(_, _) -> new byte[][] { this.ready, this.ready }, Deadline.after(limit));
	}

	private CompletableFuture<Void> creating() {
		CompletableFuture<Void> creation = CompletableFuture.runAsync(() -> create(LONG), OwnThread.EXECUTOR);
		Awaitility.await().until(() -> this.nccl.count("commInitRankConfig") == 1);
		return creation;
	}

	@Test
	void aLostRankEndsTheCreation() {
		CompletableFuture<Void> creation = creating();
		Failure lost = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(1), "its process ended");
		this.latch.trip(lost);
		assertThatThrownBy(creation::join).cause()
			.isInstanceOf(PeerLostException.class)
			.satisfies((ex) -> assertThat(((PeerLostException) ex).failure()).isEqualTo(lost));
		assertThat(this.nccl.count("commAbort")).isOne();
		assertThat(this.reports).isEmpty();
	}

	@Test
	void aRankThatLeavesEndsTheCreation() {
		CompletableFuture<Void> creation = creating();
		this.latch.departed().add(1, DepartedRanks.NONE_COMPLETED);
		assertThatThrownBy(creation::join).cause()
			.isInstanceOf(PeerLostException.class)
			.hasMessageContaining("rank 1 lost: it has left the group");
		assertThat(this.nccl.count("commAbort")).isOne();
	}

	@Test
	void aRankMayLeaveOnceItsCommunicatorIsCreated() {
		CompletableFuture<GroupBackend> other = CompletableFuture.supplyAsync(() -> create(1, new FailureLatch(), LONG),
				OwnThread.EXECUTOR);
		Awaitility.await().until(() -> this.nccl.count("commInitRankConfig") == 1);
		this.latch.departed().add(1, DepartedRanks.NONE_COMPLETED);
		try (GroupBackend own = create(0, this.latch, LONG); GroupBackend peer = other.join()) {
			assertThat(own.name()).isEqualTo(peer.name());
		}
		assertThat(this.nccl.count("commAbort")).isZero();
	}

	@Test
	void anAbortByAnotherRankKeepsItsExitCode() {
		CompletableFuture<Void> creation = creating();
		this.latch.trip(Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1), "no such data")
			.withExitCode(ExitCode.ABORTED));
		assertThatThrownBy(creation::join).cause()
			.isInstanceOf(GroupAbortedException.class)
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.ABORTED));
	}

	@Test
	void aMissedDeadlineIsReportedAsOne() {
		assertThatExceptionOfType(CollectiveTimeoutException.class).isThrownBy(() -> create(Duration.ofMillis(100)))
			.withMessageStartingWith("rank 0: ")
			.withMessageContaining("init was not done within")
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.DEADLINE_PASSED))
			.satisfies((ex) -> assertThat(this.reports).containsExactly(ex.failure()));
	}

	@Test
	void twoRanksOnOneDeviceAreAnInvalidConfiguration() {
		this.nccl.answers("commInitRankConfig", NcclResult.INVALID_USAGE).lastError = "Duplicate GPU detected";
		assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(() -> create(LONG))
			.withMessageStartingWith("rank 0: backend nccl is not available: ")
			.withMessageContaining("Duplicate GPU detected")
			.withMessageContaining("NCCL_HOSTID")
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.BAD_CONFIGURATION));
		assertThat(this.reports).singleElement()
			.satisfies((failure) -> assertThat(failure.ranks()).containsExactly(0))
			.satisfies((failure) -> assertThat(failure.exitCode()).isEqualTo(ExitCode.ABORTED));
	}

	@Test
	void aFailureOfNcclOrTheDeviceIsReportedToTheOtherRanks() {
		this.nccl.answers("commInitRankConfig", NcclResult.SYSTEM_ERROR).lastError = "no route to host";
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> create(LONG))
			.withMessageContaining("broken by rank 0: init: a system call failed: no route to host")
			.withCauseInstanceOf(NcclException.class);
		this.devices.selectDevice(1);
		this.devices.lost = 0;
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> create(LONG))
			.withMessageContaining("broken by rank 0: cudaSetDevice failed");
		assertThat(this.reports).hasSize(2);
	}

	/** NCCL may learn of a lost rank before the verdict comes. */
	@Test
	void theVerdictIsPreferredToAnErrorOfNccl() {
		this.nccl.failsWhenMade = NcclResult.REMOTE_ERROR;
		Failure aborted = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1), "it gave up");
		this.latch.trip(aborted);
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> create(LONG))
			.satisfies((ex) -> assertThat(ex.failure()).isEqualTo(aborted))
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.PEER_LOST));
		assertThat(this.reports).isEmpty();
	}

}
