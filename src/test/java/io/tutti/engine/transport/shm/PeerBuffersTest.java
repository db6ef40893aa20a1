package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveTimeoutException;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.IssuedCall;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two ranks in one thread, so that the test controls the order of steps.
 */
@Timeout(60)
class PeerBuffersTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Duration EXPIRED = Duration.ofNanos(1);

	/** In the first page, which no process maps. */
	private static final long UNMAPPED = 64;

	private static final int CLASS = 3;

	/** Two choices may not be closer. */
	private static final int ROUNDS_PER_CHOICE = 8;

	@TempDir
	private Path directory;

	private List<ShmTransport> ranks;

	@BeforeEach
	void shareMemory() throws Exception {
		this.ranks = HostPair.transports(new SharedMemorySettings(this.directory, "buffers"));
	}

	@AfterEach
	void close() {
		this.ranks.forEach(ShmTransport::close);
	}

	/** The caller of a failed call may have changed the buffer. */
	@Test
	void aBufferOfARankWhoseCallHasFailedIsNotTrusted() {
		this.ranks.get(0).enter(IssuedCall.barrier(2, LIMIT));
		this.ranks.get(0).buffers().begin();
		this.ranks.get(0).buffers().finish();
		this.ranks.get(1).enter(IssuedCall.barrier(2, Duration.ofMillis(200)));
		PeerBuffers reader = this.ranks.get(1).buffers();
		reader.begin();
		reader.finish();
		reader.awaitFinished();
		this.ranks.get(0).fail();
		assertThatThrownBy(() -> reader.requireUnchanged(0)).isInstanceOf(CollectiveTimeoutException.class);
		assertThatThrownBy(reader::awaitFinished).isInstanceOf(CollectiveTimeoutException.class);
	}

	/** It may write to this rank's buffer, which this rank's caller then uses. */
	@Test
	void aFailedPassWaitsForTheRanksThatAreStillInIt() throws Exception {
		for (ShmTransport rank : this.ranks) {
			rank.enter(IssuedCall.barrier(2, LIMIT));
			rank.buffers().begin();
		}
		PeerBuffers other = this.ranks.get(1).buffers();
		other.requireWritable();
		Thread failing = Thread.ofPlatform().start(() -> this.ranks.get(0).buffers().fail(Deadline.after(LIMIT)));
		assertThat(failing.join(Duration.ofMillis(50))).isFalse();
		other.finish();
		assertThat(failing.join(LIMIT)).isTrue();
	}

	/** Another rank would return with a part of the result that was never written. */
	@Test
	void aPassThatEndsEarlyIsNotTakenForAFinishedOne() {
		for (ShmTransport rank : this.ranks) {
			rank.enter(IssuedCall.barrier(2, Duration.ofMillis(200)));
			rank.buffers().begin();
		}
		this.ranks.get(0).fail();
		assertThatThrownBy(this.ranks.get(1).buffers()::requireWritable).isInstanceOf(CollectiveTimeoutException.class);
		assertThatThrownBy(() -> this.ranks.get(0).buffers().requireUnchanged(1))
			.isInstanceOf(CollectiveTimeoutException.class);
	}

	/** It cannot say that it has ended its pass. */
	@Test
	void aFailedPassWaitsForADeadRankNoLongerThanItsLimit() {
		this.ranks.get(0).enter(IssuedCall.barrier(2, LIMIT));
		this.ranks.get(1).enter(IssuedCall.barrier(2, Duration.ofMillis(200)));
		this.ranks.get(0).buffers().begin();
		this.ranks.get(0).buffers().fail(Deadline.after(Duration.ofMillis(20)));
		assertThatThrownBy(this.ranks.get(1).buffers()::requireWritable).isInstanceOf(CollectiveTimeoutException.class);
	}

	@Test
	void aTimeoutNamesARankThatIsStillInItsPass() {
		for (ShmTransport rank : this.ranks) {
			rank.enter(IssuedCall.barrier(2, EXPIRED));
			rank.slots().post();
			rank.buffers().begin();
		}
		assertThat(this.ranks.get(0).awaited()).isEmpty();
		this.ranks.get(0).buffers().finish();
		assertThatThrownBy(() -> this.ranks.get(0).buffers().awaitFinished())
			.isInstanceOfSatisfying(CollectiveTimeoutException.class, (late) -> {
				assertThat(late.failure().ranks()).containsExactly(1);
				assertThat(late).hasMessageContaining("nothing more came from them");
			});
		this.ranks.get(1).buffers().finish();
		assertThat(this.ranks.get(0).awaited()).isEmpty();
	}

	/** Otherwise one rank would read while another one passes chunks. */
	@Test
	void aChoiceTakesEffectInTheSameRoundOnEveryRank() {
		boolean[] ahead = new boolean[40];
		for (int round = 0; round < ahead.length + 3; round++) {
			if (round >= 3) {
				assertThat(readsInNextRound(1)).as("round %d", round - 3).isEqualTo(ahead[round - 3]);
			}
			if (round < ahead.length) {
				ahead[round] = readsInNextRound(0);
				AgreedChoices chooser = this.ranks.get(0).choices();
				boolean other = !ahead[round];
				if (round % ROUNDS_PER_CHOICE == 0) {
					chooser.choose(CLASS, other);
				}
				else {
					assertThatIllegalStateException().isThrownBy(() -> chooser.choose(CLASS, other));
				}
			}
		}
		assertThat(ahead).contains(true).contains(false);
	}

	private boolean readsInNextRound(int rank) {
		ShmTransport transport = this.ranks.get(rank);
		transport.enter(IssuedCall.barrier(2, LIMIT));
		boolean reads = transport.choices().reads(0, CLASS);
		transport.slots().post();
		return reads;
	}

	/** A pass over gigabytes takes seconds, in which another rank may be lost. */
	@Test
	void aLongPassInPlaceChecksTheDeadline() throws Exception {
		long bytes = 128 << 10;
		LocalExchange exchange = new LocalExchange(2);
		try (Arena arena = Arena.ofShared()) {
			List<MemorySegment> shared = RankThreads.run(2, LIMIT,
					(rank) -> this.ranks.get(rank).allocate(bytes, arena, exchange.rank(rank), Deadline.after(LIMIT)));
			for (int rank = 0; rank < 2; rank++) {
				this.ranks.get(rank).enter(IssuedCall.barrier(2, EXPIRED));
				this.ranks.get(rank).buffers().post(shared.get(rank).address(), bytes);
			}
			this.ranks.forEach((rank) -> rank.slots().awaitAll());
			PeerBuffers pass = this.ranks.get(1).buffers();
			pass.begin();
			assertThat(pass.access(0, 0, bytes, 0)).isNotZero();
			assertThatThrownBy(() -> {
				for (int block = 0; block < 1000; block++) {
					pass.access(0, 0, bytes, 0);
				}
			}).isInstanceOf(CollectiveTimeoutException.class);
		}
	}

	/** As the memory of a device, or of a rank that has ended. */
	@Test
	void allRanksLearnThatPrivateMemoryCannotBeRead() {
		MemorySegment own = Arena.ofAuto().allocate(64);
		for (int rank = 0; rank < 2; rank++) {
			Call call = IssuedCall.barrier(2, LIMIT);
			call.place((rank == 0) ? UNMAPPED : own.address(), 64, 0, 0);
			this.ranks.get(rank).enter(call);
			this.ranks.get(rank).buffers().post(call, true);
		}
		this.ranks.forEach((rank) -> rank.slots().awaitAll());
		this.ranks.forEach((rank) -> rank.buffers().begin());
		PeerBuffers reader = this.ranks.get(1).buffers();
		assertThat(reader.canRead()).isTrue();
		reader.copy(0, 0, own.address(), 64);
		this.ranks.forEach((rank) -> rank.buffers().finish());
		assertThat(this.ranks).allMatch((rank) -> !rank.buffers().awaitFinished() && !rank.buffers().canRead());
	}

}
