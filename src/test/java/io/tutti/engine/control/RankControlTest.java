package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.Failure.Kind;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.labelled.LabelledWaits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class RankControlTest {

	private static final Failure SEEN = new Failure(Kind.TIMEOUT, Failure.WORLD, 17, Collective.BARRIER, List.of(0),
			"no data came from them", Duration.ofSeconds(3), Duration.ofSeconds(3));

	@Test
	void withoutAVerdictTheFailureNamesTheLastHeartbeatOfRankZero() {
		RankControl control = rank(1);
		control.rankZeroHeartbeat(List.of(new RankProgress(Failure.WORLD, 16)));
		Failure told = control.unjudged(SEEN, Duration.ofSeconds(5));
		assertThat(told.detail())
			.matches("no data came from them; rank 0 has not answered for 5000 ms since it was told;"
					+ " it was last seen in #16, \\d+ ms ago");
		assertThat(told.withDetail(SEEN.detail())).isEqualTo(SEEN);
	}

	@Test
	void rankZeroDoesNotNameItself() {
		assertThat(rank(0).unjudged(SEEN, Duration.ofSeconds(5))).isEqualTo(SEEN);
	}

	private static RankControl rank(int rank) {
		Nowhere uplink = new Nowhere();
		return new RankControl(rank, new RecordedControlEvents(), new PeerTable(2, System::nanoTime), uplink,
				new LabelledWaits(rank, 2, uplink, Duration.ofSeconds(1)));
	}

	private static final class Nowhere implements RankControl.Uplink {

		@Override
		public void send(Request request) {
		}

		@Override
		public void execute(Runnable task) {
		}

		@Override
		public void leave() {
		}

	}

}
