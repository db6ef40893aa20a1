package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.Failure.Kind;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class FailureResolverTest {

	private static final Duration LIMIT = Duration.ofSeconds(2);

	private final PeerTable peers = new PeerTable(4, () -> this.now);

	private final List<Failure> verdicts = new ArrayList<>();

	private final List<Map.Entry<Integer, Failure>> late = new ArrayList<>();

	private final List<Long> queries = new ArrayList<>();

	private long now = Long.MAX_VALUE - 1;

	/** The number of verdicts at each announcement of departures to a rank. */
	private final List<Integer> verdictsAtDepartures = new ArrayList<>();

	private final NoticeRecorder notices = new NoticeRecorder(this::send, this::broadcast);

	private final DepartureTracker departures = new DepartureTracker(this.peers, () -> this.now, this.notices);

	private final FailureResolver resolver = new FailureResolver(this.peers, this.departures, LIMIT, () -> this.now,
			this.notices);

	private void send(int rank, Notice notice) {
		switch (notice) {
			case Verdict(Failure verdict) -> this.late.add(Map.entry(rank, verdict));
			case Departed _ -> this.verdictsAtDepartures.add(this.verdicts.size());
			default -> throw new AssertionError(notice);
		}
	}

	private void broadcast(Notice notice) {
		switch (notice) {
			case QueryProgress(long id, String group) -> this.queries.add(id);
			case Verdict(Failure verdict) -> this.verdicts.add(verdict);
			default -> throw new AssertionError(notice);
		}
	}

	@Test
	void theFirstAbortIsTheVerdictAtOnce() {
		this.resolver.report(1, aborted("world", 1));
		this.resolver.report(2, aborted("world", 2));
		this.resolver.report(3, timeout("world", 5));
		assertThat(this.verdicts).containsExactly(aborted("world", 1));
		assertThat(this.queries).isEmpty();
	}

	@Test
	void aRankThatReportsLateIsSentTheVerdict() {
		this.resolver.report(1, aborted("world/0.0", 1));
		this.resolver.report(2, timeout("world/0.0", 5));
		assertThat(this.verdicts).containsExactly(aborted("world/0.0", 1));
		assertThat(this.late).containsExactly(Map.entry(2, aborted("world/0.0", 1)));
	}

	@Test
	void theVerdictOnAllRanksIsKeptLongerThanThoseOnOtherGroups() {
		this.resolver.report(1, aborted("world", 1));
		for (int group = 0; group < FailureResolver.KEPT; group++) {
			this.resolver.report(1, aborted("world/" + group, 1));
		}
		assertThat(this.resolver.decided("world")).isTrue();
		assertThat(this.resolver.decided("world/0")).isFalse();
		assertThat(this.resolver.decided("world/1")).isTrue();
	}

	@Test
	void aRankThatReportsALostPeerLateIsSentThatVerdict() {
		this.peers.gone(3, PeerStatus.State.LOST);
		this.resolver.lost(3, "its connection closed");
		this.resolver.report(1, timeout("world", 5));
		assertThat(this.late).containsExactly(Map.entry(1, this.verdicts.getFirst()));
	}

	@Test
	void eachGroupHasItsOwnVerdict() {
		this.resolver.report(1, aborted("left", 1));
		this.resolver.report(2, aborted("right", 2));
		assertThat(this.verdicts).containsExactly(aborted("left", 1), aborted("right", 2));
	}

	@Test
	void aTimeoutIsAVerdictWhenAllRanksHaveAnswered() {
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answer(1, 5);
		answer(3, 4);
		assertThat(this.verdicts).isEmpty();
		answer(2, 6);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(3);
			assertThat(verdict.detail()).isEqualTo("rank 3 was last in #4");
		});
	}

	/** It waits itself, for example for the rank that is behind. */
	@Test
	void aRankInsideAnEarlierCallIsNotBlamedWhereAnotherOneIsOutside() {
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answerInside(2, 4);
		answer(3, 4);
		answer(1, 5);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(3);
			assertThat(verdict.detail()).isEqualTo("rank 3 was last in #4");
		});
	}

	/** What rank 0 sent in the earlier call may have been lost. */
	@Test
	void theTimeoutOfAnEarlierCallExplainsThatOfALaterOne() {
		this.resolver.report(0, timeout("world", 6));
		answer(0, 6);
		answerInside(1, 5);
		answer(2, 6);
		answer(3, 6);
		assertThat(this.verdicts).isEmpty();
		this.resolver.report(1, timeout("world", 5));
		answer(0, 6);
		answerInside(1, 5);
		answer(2, 6);
		answer(3, 6);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.sequence()).isEqualTo(5);
			assertThat(verdict.ranks()).containsExactly(3);
			assertThat(verdict.detail())
				.isEqualTo("every rank has entered the call; rank 1 reported: waited for rank 3");
		});
	}

	/** For example because it cannot continue, or makes another call than the others. */
	@Test
	void theAbortInAnEarlierCallExplainsTheTimeoutOfALaterOne() {
		this.resolver.report(0, timeout("world", 6));
		answer(0, 6);
		answerInside(1, 5);
		answer(2, 6);
		answer(3, 6);
		Failure earlier = new Failure(Kind.ABORTED, "world", 5, Collective.ALL_REDUCE, List.of(1), "out of memory",
				Duration.ZERO, Duration.ofSeconds(1));
		this.resolver.report(1, earlier);
		assertThat(this.verdicts).containsExactly(earlier);
	}

	@Test
	void aRankInsideAnEarlierCallThatReportsNothingIsNamedAtTheTimeLimit() {
		this.resolver.report(0, timeout("world", 6));
		answer(0, 6);
		answerInside(1, 5);
		answer(2, 6);
		answer(3, 6);
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(1);
			assertThat(verdict.detail()).isEqualTo("rank 1 is still in #5");
		});
	}

	@Test
	void aTimeoutInquiryEndsAtItsTimeLimit() {
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answer(1, 5);
		answer(2, -1);
		pass(LIMIT.minusNanos(1));
		assertThat(this.verdicts).isEmpty();
		assertThat(this.resolver.nanosUntilDue()).isEqualTo(1);
		pass(Duration.ofNanos(1));
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(2, 3);
			assertThat(verdict.detail())
				.isEqualTo("rank 2 has entered no call, rank 3 has not answered for 2000 ms since"
						+ " it was asked; it has sent no heartbeat since rendezvous");
		});
		assertThat(this.resolver.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void theVerdictNamesTheLastKnownCallOfASilentRank() {
		this.peers.progress(2, List.of(new RankProgress("left", 3)));
		this.peers.progress(3, List.of(new RankProgress("left", 1), new RankProgress("world", 4)));
		pass(Duration.ofSeconds(1));
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answer(1, 5);
		pass(LIMIT);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(2, 3);
		assertThat(this.verdicts.getFirst().detail())
			.isEqualTo("rank 2 has not answered for 2000 ms since it was asked;"
					+ " it was last seen 3000 ms ago, in no call of this group, rank 3 has not answered for 2000 ms since"
					+ " it was asked; it was last seen in #4, 3000 ms ago");
	}

	@Test
	void aRankThatHasLeftAfterTheCallIsNotMissing() {
		this.departures.left(new Departure(3, "world", 5), List.of());
		this.peers.gone(3, PeerStatus.State.LEFT);
		this.resolver.report(1, timeout("world", 5));
		answer(0, 4);
		answer(1, 5);
		answer(2, 5);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(0);
	}

	@Test
	void aRankThatHasLeftIsMissingAndNotAwaited() {
		this.peers.gone(3, PeerStatus.State.LEFT);
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answer(1, 5);
		answer(2, 5);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(3);
		assertThat(this.verdicts.getFirst().detail()).isEqualTo("rank 3 has left");
	}

	@Test
	void aRankThatLeavesDuringATimeoutInquiryIsNotAwaited() {
		this.resolver.report(1, timeout("world", 5));
		answer(0, 5);
		answer(1, 5);
		answer(2, 5);
		this.peers.gone(3, PeerStatus.State.LEFT);
		this.resolver.left();
		assertThat(this.verdicts).hasSize(1);
	}

	@Test
	void ifEveryRankHasEnteredTheVerdictQuotesTheReporterAndNamesItsRanks() {
		this.resolver.report(2, timeout("world", 5));
		for (int rank = 0; rank < 4; rank++) {
			answer(rank, 5);
		}
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(3);
		assertThat(this.verdicts.getFirst().detail())
			.isEqualTo("every rank has entered the call; rank 2 reported: waited for rank 3");
	}

	@Test
	void aSilentRankOutsideTheGroupIsNotMissing() {
		this.resolver.report(1, timeout("pair", 5));
		this.resolver.answer(1, new ProgressReply(this.queries.getLast(), 5, false, List.of(1, 3)));
		pass(LIMIT);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(3);
	}

	@Test
	void membersOutOfRangeAreIgnored() {
		this.resolver.report(1, timeout("pair", 5));
		this.resolver.answer(1, new ProgressReply(this.queries.getLast(), 5, false, List.of(-1, Integer.MAX_VALUE, 3)));
		pass(LIMIT);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(3);
	}

	@Test
	void answersToAnotherInquiryAndSecondAnswersDoNotCount() {
		this.resolver.report(1, timeout("world", 5));
		this.resolver.answer(0, new ProgressReply(77, 5, false, List.of()));
		answer(1, 4);
		answer(1, 5);
		answer(2, 5);
		answer(3, 5);
		assertThat(this.verdicts).isEmpty();
		answer(0, 5);
		assertThat(this.verdicts.getFirst().ranks()).containsExactly(1);
	}

	/** For example on request, while other ranks wait for the rank. */
	@Test
	void anAbortOutsideOfACallExplainsATimeout() {
		this.resolver.report(1, timeout("world", 5));
		Failure abort = aborted("world", 2).withExitCode(3);
		this.resolver.report(2, abort);
		pass(LIMIT);
		assertThat(this.verdicts).containsExactly(abort);
	}

	/** As NCCL finds on a rank that computes, after the others have given up. */
	@Test
	void anAbortByNoRankExplainsNoTimeout() {
		this.resolver.report(1, timeout("world", 5));
		this.resolver.report(2, Failure.outside(Kind.ABORTED, "world", List.of(), "another rank was lost"));
		answer(0, 5);
		answer(1, 5);
		answer(2, 4);
		answer(3, 5);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.kind()).isEqualTo(Kind.TIMEOUT);
			assertThat(verdict.ranks()).containsExactly(2);
		});
	}

	@Test
	void aMismatchOfTheCallExplainsItsTimeout() {
		this.resolver.report(1, timeout("world", 5));
		Failure mismatch = inCall(Kind.MISMATCH, 5, "rank 1 called all-reduce, rank 2 called barrier");
		this.resolver.report(2, mismatch);
		pass(LIMIT);
		assertThat(this.verdicts).containsExactly(mismatch);
	}

	private static Failure inCall(Kind kind, long sequence, String detail) {
		return new Failure(kind, "world", sequence, Collective.ALL_REDUCE, List.of(2), detail, Duration.ZERO,
				Duration.ofSeconds(1));
	}

	/** An abort in the call itself may be a consequence. */
	@Test
	void laterReportsChangeNothingDuringATimeoutInquiry() {
		this.resolver.report(1, timeout("world", 5));
		this.resolver.report(2, timeout("world", 5));
		this.resolver.report(2, inCall(Kind.ABORTED, 5, "NCCL failed"));
		this.resolver.report(2, inCall(Kind.MISMATCH, 6, "a later call"));
		assertThat(this.queries).hasSize(1);
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().extracting(Failure::kind).isEqualTo(Kind.TIMEOUT);
	}

	@Test
	void aRankLostDuringATimeoutInquiryIsTheVerdict() {
		this.resolver.report(1, timeout("world", 5));
		lose(3);
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().extracting(Failure::kind).isEqualTo(Kind.PEER_LOST);
	}

	@Test
	void aSuspectedRankThatIsLostSoonAfterIsTheVerdict() {
		this.resolver.report(1, lost("world", 2));
		assertThat(this.verdicts).isEmpty();
		lose(2);
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(2);
			assertThat(verdict.detail()).isEqualTo("its connection closed");
		});
	}

	@Test
	void aRankLostDuringASuspicionIsTheVerdictInsteadOfTheSuspect() {
		this.resolver.report(1, lost("world", 2));
		pass(Duration.ofMillis(499));
		lose(3);
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().extracting(Failure::ranks).isEqualTo(List.of(3));
	}

	@Test
	void anAbortEndsASuspicion() {
		this.resolver.report(1, lost("world", 2));
		this.resolver.report(2, aborted("world", 2));
		pass(LIMIT);
		assertThat(this.verdicts).containsExactly(aborted("world", 2));
	}

	@Test
	void aTimeoutDoesNotEndASuspicion() {
		this.resolver.report(1, lost("world", 2));
		this.resolver.report(3, timeout("world", 5));
		pass(Duration.ofMillis(500));
		assertThat(this.verdicts).containsExactly(lost("world", 2));
		assertThat(this.queries).isEmpty();
	}

	/**
	 * A rank that learns of a departure while it connects closes the half-open
	 * connection, and the peer may report that before the rank reports the departure.
	 */
	@Test
	void aDepartureExplainsALaterSuspicion() {
		this.departures.left(new Departure(1, Failure.WORLD, 4), List.of());
		this.resolver.report(0, lostIn(5, 3));
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.kind()).isEqualTo(Kind.PEER_LOST);
			assertThat(verdict.ranks()).containsExactly(1);
			assertThat(verdict.sequence()).isEqualTo(5);
			assertThat(verdict.detail())
				.isEqualTo("it has left the group; the last collective that it completed there is #4");
		});
		this.resolver.report(3, lostIn(5, 1));
		assertThat(this.late).containsExactly(Map.entry(3, this.verdicts.getFirst()));
	}

	/** Otherwise the other ranks would take rank 0 for lost. */
	@Test
	void aDepartureIsAnnouncedBeforeTheVerdictThatItCauses() {
		this.departures.left(new Departure(0, Failure.WORLD, 4), List.of());
		this.resolver.report(1, lostIn(5, 0));
		assertThat(this.verdicts).hasSize(1);
		assertThat(this.verdictsAtDepartures).containsExactly(0, 0, 0);
	}

	@Test
	void aDepartureExplainsAnEarlierSuspicion() {
		this.resolver.report(0, lostIn(5, 3));
		this.departures.left(new Departure(1, Failure.WORLD, -1), List.of());
		this.resolver.left();
		assertThat(this.verdicts).singleElement().extracting(Failure::ranks).isEqualTo(List.of(1));
	}

	@Test
	void aRankThatLeftAfterTheFailedCallExplainsNothing() {
		this.departures.left(new Departure(1, Failure.WORLD, 5), List.of());
		this.resolver.report(0, lostIn(5, 3));
		this.resolver.left();
		assertThat(this.verdicts).isEmpty();
		pass(LIMIT);
		assertThat(this.verdicts).containsExactly(lostIn(5, 3));
	}

	@Test
	void aDepartureDoesNotExplainALostRank() {
		this.departures.left(new Departure(1, Failure.WORLD, 4), List.of());
		this.peers.gone(3, PeerStatus.State.LOST);
		this.resolver.report(0, lostIn(5, 3));
		assertThat(this.verdicts).containsExactly(lostIn(5, 3));
	}

	@Test
	void aDepartureDoesNotExplainTheEndOfAMessageConnection() {
		this.departures.left(new Departure(1, Failure.WORLD, -1), List.of());
		this.resolver.report(0, lost("world", 3));
		assertThat(this.verdicts).isEmpty();
	}

	@Test
	void aReportOfARankThatIsGoneEndsTheSuspicionOfAnother() {
		this.resolver.report(0, lostIn(5, 3));
		this.peers.gone(1, PeerStatus.State.LEFT);
		this.resolver.report(3, lostIn(5, 1));
		assertThat(this.verdicts).containsExactly(lostIn(5, 1));
	}

	/** A rank that gives up while it connects closes the half-open connection. */
	@Test
	void aSuspectThatReportsATimeoutIsNotToBlame() {
		this.resolver.report(0, lostIn(5, 3));
		this.resolver.report(3, timeout("world", 5));
		assertThat(this.queries).hasSize(1);
		answer(0, 5);
		answer(1, 4);
		answer(2, 5);
		answer(3, 5);
		assertThat(this.verdicts).singleElement().extracting(Failure::ranks).isEqualTo(List.of(1));
	}

	@Test
	void aShortLimitShortensASuspicion() {
		FailureResolver hasty = new FailureResolver(this.peers, this.departures, Duration.ofMillis(100), () -> this.now,
				this.notices);
		hasty.report(1, lost("world", 2));
		assertThat(hasty.nanosUntilDue()).isEqualTo(Duration.ofMillis(100).toNanos());
	}

	@Test
	void aSuspectThatHasLeftTheJobIsTheVerdictAtOnce() {
		this.peers.gone(2, PeerStatus.State.LEFT);
		this.resolver.report(1, lost("world", 2));
		assertThat(this.verdicts).containsExactly(lost("world", 2));
	}

	@Test
	void eachLostRankGetsItsOwnVerdict() {
		this.resolver.report(0, aborted("world", 0));
		lose(2);
		lose(2);
		lose(3);
		assertThat(this.verdicts).extracting(Failure::ranks).containsExactly(List.of(0), List.of(2), List.of(3));
	}

	@Test
	void afterALostRankTheWorldHasItsVerdict() {
		lose(2);
		this.resolver.report(1, aborted("world", 1));
		this.resolver.report(1, timeout("world", 3));
		this.resolver.report(1, lost("world", 3));
		pass(LIMIT);
		assertThat(this.verdicts).hasSize(1);
	}

	@Test
	void aLostControlConnectionEndsSuspicionsInEveryGroup() {
		this.resolver.report(1, lost("side", 2));
		lose(2);
		pass(LIMIT);
		assertThat(this.verdicts).hasSize(1);
	}

	@Test
	void aSuspectThatStaysUpIsUnreachableOnlyInTheSubgroup() {
		this.resolver.report(1, lost("side", 2));
		pass(LIMIT);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.kind()).isEqualTo(Kind.ABORTED);
			assertThat(verdict.group()).isEqualTo("side");
			assertThat(verdict.ranks()).containsExactly(2);
			assertThat(verdict.detail()).contains("it is up, but has left this group or cannot be reached in it");
		});
		this.resolver.report(3, aborted("world", 3));
		assertThat(this.verdicts).last().isEqualTo(aborted("world", 3));
	}

	@Test
	void aDepartedRankCausesNoInquiry() {
		this.departures.left(new Departure(2, "side", 4), List.of(1, 2));
		this.resolver.report(1, lost("side", 2));
		assertThat(this.verdicts).singleElement().extracting(Failure::kind).isEqualTo(Kind.ABORTED);
	}

	@Test
	void aDepartureFromTheGroupEndsTheInquiry() {
		this.resolver.report(1, lost("side", 2));
		this.departures.left(new Departure(2, "other", 4), List.of(1, 2));
		this.resolver.left();
		assertThat(this.verdicts).isEmpty();
		this.departures.left(new Departure(2, "side", 4), List.of(1, 2));
		this.resolver.left();
		assertThat(this.verdicts).singleElement().extracting(Failure::kind).isEqualTo(Kind.ABORTED);
	}

	@Test
	void aRankOutsideTheGroupIsNotMissing() {
		this.resolver.report(1, timeout("side", 5));
		answer(0, ControlListener.NOT_A_MEMBER);
		answer(1, 5);
		answer(2, 4);
		answer(3, 5);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(2);
			assertThat(verdict.detail()).isEqualTo("rank 2 was last in #4");
		});
	}

	@Test
	void anAwaitedRankThatDoesNotKnowTheGroupHasNotFormedIt() {
		this.resolver.report(1, timeout("side", 0));
		answer(0, ControlListener.NOT_A_MEMBER);
		answer(1, 0);
		answer(2, 0);
		answer(3, ControlListener.NOT_A_MEMBER);
		assertThat(this.verdicts).singleElement().satisfies((verdict) -> {
			assertThat(verdict.ranks()).containsExactly(3);
			assertThat(verdict.detail()).isEqualTo("rank 3 has not formed the group");
		});
	}

	/** Rank 2 is blamed while its control connection is open. */
	private Failure blameRankTwo() {
		this.resolver.report(1, lost("world", 2));
		pass(Duration.ofMillis(500));
		assertThat(this.verdicts).containsExactly(lost("world", 2));
		return this.verdicts.getFirst();
	}

	@Test
	void aBlamedRankThatIsLostLaterIsNotAwaitedByATimeoutInquiry() {
		blameRankTwo();
		this.resolver.report(1, timeout("side", 5));
		answer(0, 5);
		answer(1, 5);
		answer(3, 5);
		assertThat(this.verdicts).hasSize(1);
		lose(2);
		assertThat(this.verdicts).hasSize(2);
		assertThat(this.verdicts.getLast().group()).isEqualTo("side");
		assertThat(this.verdicts.getLast().ranks()).containsExactly(2);
	}

	@Test
	void aReportOfABlamedRankInAnotherGroupIsSentThatVerdictAtOnce() {
		Failure verdict = blameRankTwo();
		this.resolver.report(3, lost("side", 2));
		assertThat(this.late).containsExactly(Map.entry(3, verdict));
		assertThat(this.resolver.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void aVerdictEndsTheSuspicionsOfTheSameRankInEveryGroup() {
		this.resolver.report(3, lost("side", 2));
		pass(Duration.ofMillis(100));
		this.resolver.report(1, lost("world", 2));
		this.peers.gone(2, PeerStatus.State.LEFT);
		this.resolver.left();
		pass(LIMIT);
		assertThat(this.verdicts).hasSize(1);
	}

	@Test
	void aTimeoutWithoutSequenceNumberIsAVerdictAtOnce() {
		Failure report = new Failure(Kind.TIMEOUT, "world", -1, null, List.of(3), "receive from rank 3",
				Duration.ofSeconds(3), Duration.ofSeconds(3));
		this.resolver.report(1, report);
		assertThat(this.verdicts).containsExactly(report);
		assertThat(this.queries).isEmpty();
	}

	private void lose(int rank) {
		this.peers.gone(rank, PeerStatus.State.LOST);
		this.resolver.lost(rank, "its connection closed");
	}

	private void answer(int rank, long entered) {
		this.resolver.answer(rank, new ProgressReply(this.queries.getLast(), entered, false, List.of()));
	}

	private void answerInside(int rank, long entered) {
		this.resolver.answer(rank, new ProgressReply(this.queries.getLast(), entered, true, List.of()));
	}

	private void pass(Duration time) {
		this.now += time.toNanos();
		this.resolver.tick();
	}

	private static Failure aborted(String group, int rank) {
		return Failure.outside(Kind.ABORTED, group, List.of(rank), "asked for by rank " + rank);
	}

	private static Failure lost(String group, int rank) {
		return Failure.outside(Kind.PEER_LOST, group, List.of(rank), "its data connection closed");
	}

	private static Failure lostIn(long sequence, int rank) {
		return new Failure(Kind.PEER_LOST, "world", sequence, Collective.ALL_TO_ALL, List.of(rank),
				"its data connection ended", Duration.ofMillis(3), Duration.ofSeconds(3));
	}

	private static Failure timeout(String group, long sequence) {
		return new Failure(Kind.TIMEOUT, group, sequence, Collective.ALL_REDUCE, List.of(3), "waited for rank 3",
				Duration.ofSeconds(3), Duration.ofSeconds(3));
	}

}
