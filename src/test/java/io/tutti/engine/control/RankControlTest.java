package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.Failure.Kind;
import io.tutti.OwnThread;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.labelled.LabelledWaits;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(10)
class RankControlTest {

	private static final Failure SEEN = new Failure(Kind.TIMEOUT, Failure.WORLD, 17, Collective.BARRIER, List.of(0),
			"nothing more came from them", Duration.ofSeconds(3), Duration.ofSeconds(3));

	private final RecordedControlEvents events = new RecordedControlEvents();

	private final PeerTable peers = new PeerTable(2, System::nanoTime);

	private final List<Request> sent = new CopyOnWriteArrayList<>();

	private Consumer<Request> onSend = this.sent::add;

	@Test
	void withoutAVerdictTheFailureNamesTheLastHeartbeatOfRankZero() {
		RankControl control = rank(1);
		this.peers.progress(0, List.of(new RankProgress(Failure.WORLD, 16)));
		Failure told = control.withoutVerdict(SEEN, Duration.ofSeconds(5));
		assertThat(told.detail())
			.matches("nothing more came from them; rank 0 has not answered for 5000 ms since the report;"
					+ " it was last seen in #16, \\d+ ms ago");
		assertThat(told.withDetail(SEEN.detail())).isEqualTo(SEEN);
	}

	/** A rank that has lost rank 0 ends, and with it its data connections. */
	@Test
	void aLostPeerWithoutAVerdictIsTheFaultOfRankZero() {
		Failure told = toldWithoutVerdict(Kind.PEER_LOST, 2, "its data connection ended");
		assertThat(told.ranks()).containsExactly(0);
		assertThat(told.detail()).contains("it has not answered for 5000 ms",
				"reported ranks [2] lost (its data connection ended)");
		assertThat(told.sequence()).isEqualTo(17);
	}

	/** Ranks that wait in a chain must not name each other. */
	@Test
	void aTimeoutWithoutAVerdictIsTheFaultOfRankZero() {
		Failure told = toldWithoutVerdict(Kind.TIMEOUT, 1, "nothing more came from them");
		assertThat(told.ranks()).containsExactly(0);
		assertThat(told.describe()).startsWith("barrier #17 of group world: deadline passed after 3000 ms of 3000 ms, "
				+ "waiting for rank 0: it has not answered for 5000 ms since this rank reported its wait for ranks [1] "
				+ "(nothing more came from them), which may wait because of rank 0; ");
		Failure fromAny = new Failure(Kind.TIMEOUT, Failure.WORLD, -1, null, List.of(), "4 of 8 bytes so far",
				Duration.ofSeconds(3), Duration.ofSeconds(3));
		assertThat(rank(1).withoutVerdict(fromAny, Duration.ofSeconds(5)).ranks()).containsExactly(0);
	}

	/** What rank 1 tells of a barrier's failure that rank 0 has not answered. */
	private Failure toldWithoutVerdict(Kind kind, int faulty, String detail) {
		Failure seen = new Failure(kind, Failure.WORLD, 17, Collective.BARRIER, List.of(faulty), detail,
				Duration.ofSeconds(3), Duration.ofSeconds(3));
		return rank(1).withoutVerdict(seen, Duration.ofSeconds(5));
	}

	@Test
	void anAbortWithoutAVerdictStaysTheFaultOfItsRank() {
		Failure seen = Failure.outside(Kind.ABORTED, Failure.WORLD, List.of(1), "no more disk");
		Failure told = rank(1).withoutVerdict(seen, Duration.ofSeconds(5));
		assertThat(told.ranks()).containsExactly(1);
		assertThat(told.detail()).startsWith("no more disk; rank 0 has not answered for 5000 ms since the report; ");
	}

	@Test
	void aFailureThatAnotherRankTellsIsDelivered() {
		rank(1).fail(2, SEEN);
		assertThat(this.events.failures).containsExactly(SEEN);
		assertThat(this.events.departures).containsExactly(Departure.fromEveryGroup(2));
		assertThat(this.sent).isEmpty();
	}

	@Test
	void rankZeroDoesNotNameItself() {
		assertThat(rank(0).withoutVerdict(SEEN, Duration.ofSeconds(5))).isEqualTo(SEEN);
	}

	@Test
	void aVerdictIsDeliveredOnce() {
		RankControl control = rank(1);
		control.report(SEEN);
		control.receive(new Verdict(SEEN));
		control.receive(new Verdict(SEEN));
		assertThat(this.events.failures).containsExactly(SEEN);
	}

	@Test
	void aVerdictThatAnswersALaterReportIsDeliveredAgain() {
		RankControl control = rank(1);
		control.receive(new Verdict(SEEN));
		control.report(SEEN);
		control.receive(new Verdict(SEEN));
		assertThat(this.events.failures).containsExactly(SEEN, SEEN);
	}

	@Test
	void aLostRankAnswersTheReportsOfItsGroups() {
		RankControl control = rank(1);
		this.events.members.put("with", List.of(1, 2));
		this.events.members.put("without", List.of(0, 1));
		Failure without = timeout("without");
		Failure lost = Failure.outside(Kind.PEER_LOST, Failure.WORLD, List.of(2), "it was killed");
		control.report(timeout("with"));
		control.report(without);
		control.receive(new Verdict(lost));
		control.receive(new RankZeroLeft(null));
		assertThat(this.events.failures).containsExactly(lost, without);
	}

	@Test
	void aVerdictOnALostRankAnswersALaterReportOfAnotherGroup() {
		RankControl control = rank(1);
		Failure lost = Failure.outside(Kind.PEER_LOST, Failure.WORLD, List.of(0), "it was killed");
		control.receive(new Verdict(lost));
		this.events.members.put("a", List.of(0, 1));
		control.report(timeout("a"));
		control.receive(new Verdict(lost));
		assertThat(this.events.failures).containsExactly(lost, lost);
	}

	private static Failure timeout(String group) {
		return new Failure(Kind.TIMEOUT, group, 3, Collective.BARRIER, List.of(0), "nothing more came from them",
				Duration.ofSeconds(3), Duration.ofSeconds(3));
	}

	@Test
	void aQueryDoesNotWaitForARankThatIsLostMeanwhile() {
		RankControl control = rank(0);
		CompletableFuture<Map<Integer, Duration>> answers = CompletableFuture
			.supplyAsync(() -> control.rollCall(Duration.ofMinutes(1)), OwnThread.EXECUTOR);
		Awaitility.await().until(() -> !this.sent.isEmpty());
		this.peers.gone(1, PeerStatus.State.LOST);
		assertThat(answers).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(Map.of(0, Duration.ZERO));
	}

	@Test
	void anAnswerOfARankThatHasLeftSinceIsKept() {
		RankControl control = rank(0);
		this.onSend = (request) -> {
			control.receive(new ForwardedTrace(((QueryTraces) request).ticket(), 1, new byte[0]));
			this.peers.gone(1, PeerStatus.State.LEFT);
		};
		assertThat(control.rollCall(Duration.ofMinutes(1))).containsKeys(0, 1);
	}

	@Test
	void aQueryEndsWhenTheRankLeaves() {
		RankControl control = rank(0);
		CompletableFuture<Map<Integer, Duration>> answers = CompletableFuture
			.supplyAsync(() -> control.rollCall(Duration.ofMinutes(1)), OwnThread.EXECUTOR);
		Awaitility.await().until(() -> !this.sent.isEmpty());
		control.close();
		assertThat(answers).succeedsWithin(Duration.ofSeconds(5)).isEqualTo(Map.of(0, Duration.ZERO));
	}

	@Test
	void theTracesOfAllRanksAreBoundedForAnyNumberOfGroups() {
		List<Integer> limits = new CopyOnWriteArrayList<>();
		RecordedControlEvents listener = new RecordedControlEvents() {
			@Override
			public byte[] trace(int limit) {
				limits.add(limit);
				return new byte[0];
			}
		};
		RankControl control = rank(1, listener);
		control.receive(new QueryTrace(0, 1, 2000));
		IntStream.range(0, 64).forEach((group) -> listener.entered.put("world/" + group, 5L));
		control.receive(new QueryTrace(0, 2, 2000));
		control.receive(new QueryTrace(0, 3, 10));
		control.queryTraces(2000, Duration.ofMillis(1));
		int fair = RankControl.MAX_CALLS_IN_ALL / 2 / 64;
		assertThat(limits).containsExactly(2000, fair, 10, fair);
	}

	@Test
	void aListenerThatThrowsIsReportedAndTheRankStillAnswers() {
		ControlListener broken = new ControlListener() {
			@Override
			public void failed(Failure verdict) {
				throw new IllegalStateException("no");
			}

			@Override
			public void drainRequested(String reason) {
				throw new IllegalStateException("no");
			}

			@Override
			public long lastEntered(String group) {
				throw new IllegalStateException("no");
			}

			@Override
			public void note(String message) {
			}

			@Override
			public void warn(String message) {
				RankControlTest.this.events.warn(message);
				throw new IllegalStateException("no");
			}
		};
		RankControl control = rank(1, ControlListener.guarded(broken));
		control.receive(new Verdict(SEEN));
		control.receive(new Drain("now"));
		control.receive(new QueryProgress(7, Failure.WORLD));
		assertThat(this.sent).containsExactly(new ProgressReply(7, ControlListener.NONE_ENTERED, false, List.of()));
		assertThat(this.events.warnings).containsExactly(
				"the control plane's listener threw from failed: java.lang.IllegalStateException: no",
				"the control plane's listener threw from drainRequested: java.lang.IllegalStateException: no",
				"the control plane's listener threw from lastEntered: java.lang.IllegalStateException: no");
	}

	@Test
	void aBarrierDoesNotWaitForARankThatHasLeft() {
		RankControl control = rank(0);
		control.receive(new Departed(List.of(Departure.fromEveryGroup(1))));
		assertThatExceptionOfType(CollectiveException.class)
			.isThrownBy(() -> control.barrier("a", Duration.ofMinutes(1)))
			.withMessageContaining("rank 1")
			.withMessageContaining("it has left the group");
		assertThat(this.events.departures).containsExactly(Departure.fromEveryGroup(1));
	}

	private RankControl rank(int rank) {
		return rank(rank, this.events);
	}

	private RankControl rank(int rank, ControlListener listener) {
		Recorded uplink = new Recorded();
		this.peers.roster(List.of(new PeerAddress(0, "a", 1, "h"), new PeerAddress(1, "b", 1, "h")));
		return new RankControl(rank, listener, this.peers, uplink,
				new LabelledWaits(rank, 2, uplink, Duration.ofSeconds(1)));
	}

	private final class Recorded implements RankControl.Uplink {

		@Override
		public void send(Request request) {
			RankControlTest.this.onSend.accept(request);
		}

		@Override
		public void execute(Runnable task) {
			task.run();
		}

		@Override
		public void leave() {
		}

	}

}
