package io.tutti.training.job;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.MembershipChangedException;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.SharesLibtorch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** A process joins an elastic job with a job of its own that differs. */
@Timeout(120)
@SharesLibtorch
class JoinedJobTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	@TempDir
	private Path directory;

	@Test
	void aRankWithAnotherModelFailsAloneAndTheOthersContinueWithoutIt() throws Exception {
		Path data = Files.writeString(this.directory.resolve("own.csv"), "1,2,0\n3,4,1\n".repeat(20));
		ClassifierJob digits = ClassifierJob.defaults();
		ClassifierJob own = new ClassifierJob(digits.epochs(), digits.globalBatch(), digits.learningRate(),
				digits.seed(), 1, data, null, 0, null);
		try (SimulatedWorld alone = new SimulatedWorld(1, Timeouts.DEFAULTS);
				SimulatedWorld both = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			AtomicBoolean memberLeft = new AtomicBoolean();
			List<Outcome<TrainingSummary>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				ClassifierJob job = (rank == 0) ? digits : own;
				try (ProcessGroup joined = both.group(rank);
						TwoGenerations group = new TwoGenerations((rank == 0) ? alone.group(0) : null, joined,
								memberLeft)) {
					return new TrainingJob(group, job.task(), job.options(), TrainingListener.NONE).run();
				}
			});
			assertThat(outcomes.get(0).failure()).isInstanceOfSatisfying(PeerLostException.class,
					(ex) -> assertThat(ex.failure().ranks()).containsExactly(1));
			assertThat(outcomes.get(1).failure()).isInstanceOf(ReplicaMismatchException.class)
				.hasMessageContaining("rank 1 joined a job that differs from its own");
		}
	}

	/**
	 * Trains in a first generation until its second step, and in one in which all ranks
	 * take the state of rank 0.
	 */
	private static final class TwoGenerations implements ElasticGroup {

		private final @Nullable ProcessGroup first;

		private final ProcessGroup second;

		/** Whether rank 0 has left the call in which the ranks compare their jobs. */
		private final AtomicBoolean memberLeft;

		private int steps;

		TwoGenerations(@Nullable ProcessGroup first, ProcessGroup second, AtomicBoolean memberLeft) {
			this.first = first;
			this.second = second;
			this.memberLeft = memberLeft;
		}

		@Override
		public <R> R run(ElasticState state, ElasticLoop<R> loop) {
			try {
				if (this.first != null) {
					try {
						loop.run(this.first);
					}
					catch (MembershipChangedException ex) {
						assertThat(state.step()).isEqualTo(2);
					}
				}
				synchronize(state);
				return loop.run(this.second);
			}
			catch (RuntimeException ex) {
				throw ex;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		/** The group aborts as soon as the rank that joins throws. */
		private void synchronize(ElasticState state) throws InterruptedException {
			try {
				state.synchronize(this.second, 0);
			}
			catch (PeerLostException ex) {
				Thread.sleep(300);
				this.memberLeft.set(true);
				throw ex;
			}
			catch (ReplicaMismatchException ex) {
				assertThat(this.memberLeft).isTrue();
				throw ex;
			}
		}

		@Override
		public void commit() {
			if (++this.steps == 2) {
				throw new MembershipChangedException("a process waits to join");
			}
		}

		@Override
		public ProcessGroup group() {
			return this.second;
		}

		@Override
		public long generation() {
			return this.second.generation();
		}

		@Override
		public void onEvent(Consumer<ElasticEvent> listener) {
			// There are none.
		}

		@Override
		public void close() {
			// The test closes the groups.
		}

	}

}
