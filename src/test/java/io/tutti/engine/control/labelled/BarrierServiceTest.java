package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.BarrierOutcome.Result;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.RoundWait;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class BarrierServiceTest {

	private static final long MILLI = 1_000_000;

	private static final long LONG = Duration.ofMinutes(1).toNanos();

	/** The clock starts shortly before overflow, so only differences may be compared. */
	private long now = Long.MAX_VALUE - 50 * MILLI;

	private long tickets;

	private final Map<Long, BarrierOutcome> outcomes = new HashMap<>();

	private BarrierService barriers = world(3);

	/** The tickets that were asked to confirm, each with the attempt. */
	private final List<Map.Entry<Long, Integer>> asked = new ArrayList<>();

	private BarrierService world(int worldSize) {
		return new BarrierService(worldSize, () -> this.now, new RecordedNotices((rank, notice) -> {
			switch (notice) {
				case Confirm(long ticket, int attempt) -> this.asked.add(Map.entry(ticket, attempt));
				case RoundEnded(long ticket, CallMatch match) ->
					assertThat(this.outcomes.put(ticket, match.outcome())).as("a second end of one wait").isNull();
			}
		}));
	}

	@Test
	void allRanksPassWhenTheLastEnters() {
		long zero = enter(0, "a", LONG);
		pass(5);
		long two = enter(2, "a", LONG);
		assertThat(this.outcomes).isEmpty();
		pass(7);
		long one = enter(1, "a", LONG);
		assertThat(outcome(zero))
			.isEqualTo(new BarrierOutcome(Result.PASSED, "a", 0, 3, 12, List.of(0L, 12L, 5L), List.of()));
		assertThat(outcome(two).waitedMillis()).isEqualTo(7);
		assertThat(outcome(one).waitedMillis()).isZero();
		assertThat(this.barriers.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void aWorldOfOnePassesAlone() {
		this.barriers = world(1);
		assertThat(outcome(enter(0, "a", LONG)).result()).isEqualTo(Result.PASSED);
		assertThat(outcome(enter(0, "a", LONG)).round()).isEqualTo(1);
	}

	@Test
	void theFirstDeadlineBreaksTheRoundForAllWaitingRanks() {
		long zero = enter(0, "a", LONG);
		pass(10);
		long one = enter(1, "a", 20 * MILLI);
		assertThat(this.barriers.nanosUntilDue()).isEqualTo(20 * MILLI);
		pass(19);
		assertThat(this.outcomes).isEmpty();
		pass(1);
		assertThat(outcome(zero))
			.isEqualTo(new BarrierOutcome(Result.BROKEN, "a", 0, 2, 30, List.of(0L, 10L, -1L), List.of(2)));
		assertThat(outcome(one).missingRanks()).containsExactly(2);
		assertThat(outcome(one).waitedMillis()).isEqualTo(20);
	}

	@Test
	void aLateRankGetsTheOutcomeOfTheRoundItMissedAndJoinsTheNext() {
		enter(0, "a", 10 * MILLI);
		enter(1, "a", 10 * MILLI);
		pass(10);
		BarrierOutcome late = outcome(enter(2, "a", LONG));
		assertThat(late).isEqualTo(new BarrierOutcome(Result.LATE, "a", 0, 2, 0, List.of(0L, 0L, -1L), List.of(2)));
		enter(2, "a", LONG);
		enter(1, "a", LONG);
		BarrierOutcome next = outcome(enter(0, "a", LONG));
		assertThat(next.result()).isEqualTo(Result.PASSED);
		assertThat(next.round()).isEqualTo(1);
	}

	@Test
	void aRankGetsTheOutcomeOfEachRoundItMissed() {
		for (int i = 0; i < 100; i++) {
			enter(0, "a", MILLI);
			enter(1, "a", MILLI);
			pass(1);
		}
		for (int i = 0; i < 100; i++) {
			BarrierOutcome late = outcome(enter(2, "a", LONG));
			assertThat(late.result()).isEqualTo(Result.LATE);
			assertThat(late.round()).isEqualTo(i);
			assertThat(late.missingRanks()).containsExactly(2);
		}
		enter(2, "a", LONG);
		assertThat(this.barriers.nanosUntilDue()).isEqualTo(LONG);
	}

	@Test
	void aRankThatWithdrawsIsReportedMissingToTheOtherRanks() {
		long zero = enter(0, "a", 20 * MILLI);
		long two = enter(2, "a", LONG);
		this.barriers.receive(2, new Withdraw(two));
		assertThat(outcome(two).result()).isEqualTo(Result.WITHDRAWN);
		long one = enter(1, "a", LONG);
		assertThat(this.outcomes).containsOnlyKeys(two);
		pass(20);
		this.barriers.tick();
		assertThat(outcome(zero).result()).isEqualTo(Result.BROKEN);
		assertThat(outcome(one).missingRanks()).containsExactly(2);
	}

	@Test
	void theNextCallOfARankTakesThePlaceOfAWithdrawnOne() {
		long abandoned = enter(1, "a", LONG);
		this.barriers.receive(1, new Withdraw(abandoned));
		long zero = enter(0, "a", LONG);
		long two = enter(2, "a", LONG);
		assertThat(this.outcomes).containsOnlyKeys(abandoned);
		long one = enter(1, "a", LONG);
		for (long ticket : new long[] { zero, one, two }) {
			assertThat(outcome(ticket).result()).isEqualTo(Result.PASSED);
			assertThat(outcome(ticket).round()).isZero();
		}
	}

	@Test
	void laterCallsOfARankMoveUpBehindAWithdrawnOne() {
		List<Long> calls = IntStream.range(0, 3).mapToObj((i) -> enter(1, "a", LONG)).toList();
		enter(0, "a", LONG);
		enter(2, "a", LONG);
		assertThat(outcome(calls.getFirst()).round()).isZero();
		this.barriers.receive(1, new Withdraw(calls.get(1)));
		enter(0, "a", LONG);
		enter(2, "a", LONG);
		assertThat(outcome(calls.get(2)).result()).isEqualTo(Result.PASSED);
		assertThat(outcome(calls.get(2)).round()).isEqualTo(1);
		enter(0, "a", LONG);
		enter(2, "a", LONG);
		assertThat(outcome(enter(1, "a", LONG)).round()).isEqualTo(2);
	}

	@Test
	void theDeadlineOfAWithdrawnCallNoLongerCounts() {
		this.barriers.receive(1, new Withdraw(enter(1, "a", MILLI)));
		assertThat(this.barriers.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
		pass(5);
		long zero = enter(0, "a", LONG);
		this.barriers.receive(2, new Withdraw(enter(2, "a", MILLI)));
		pass(5);
		enter(2, "a", LONG);
		enter(1, "a", LONG);
		assertThat(outcome(zero))
			.isEqualTo(new BarrierOutcome(Result.PASSED, "a", 0, 3, 5, List.of(0L, 5L, 5L), List.of()));
	}

	@Test
	void aTentativeRankIsAskedWhenAllHaveEnteredAndCountsWhenItConfirms() {
		long one = tentative(1, "a", RoundWait.NEXT);
		long zero = enter(0, "a", LONG);
		assertThat(this.asked).isEmpty();
		long two = tentative(2, "a", RoundWait.NEXT);
		assertThat(this.asked).containsExactly(Map.entry(one, 1), Map.entry(two, 1));
		this.barriers.receive(1, new Confirm(one, 1));
		this.barriers.receive(2, new Withdraw(two));
		assertThat(this.outcomes).containsOnlyKeys(two);
		long again = enter(2, "a", LONG);
		assertThat(this.asked.getLast()).isEqualTo(Map.entry(one, 2));
		this.barriers.receive(1, new Confirm(one, 1));
		assertThat(this.outcomes).as("an answer to the question before").containsOnlyKeys(two);
		this.barriers.receive(1, new Confirm(one, 2));
		for (long ticket : new long[] { zero, one, again }) {
			assertThat(outcome(ticket).result()).isEqualTo(Result.PASSED);
		}
	}

	@Test
	void aTentativeRankThatDoesNotAnswerIsMissing() {
		long one = tentative(1, "a", RoundWait.NEXT);
		long two = enter(2, "a", LONG);
		long zero = enter(0, "a", 10 * MILLI);
		pass(10);
		for (long ticket : new long[] { zero, one, two }) {
			assertThat(outcome(ticket).result()).isEqualTo(Result.BROKEN);
			assertThat(outcome(ticket).missingRanks()).containsExactly(1);
			assertThat(outcome(ticket).arrived()).isEqualTo(2);
		}
		this.barriers.receive(1, new Confirm(one, 1));
	}

	@Test
	void namedRoundsAreSeparateFromEachOtherAndFromUnnamedRounds() {
		long five = named(0, "a", 5);
		long six = named(1, "a", 6);
		long unnamed = enter(2, "a", LONG);
		assertThat(this.outcomes).isEmpty();
		named(2, "a", 5);
		assertThat(outcome(named(1, "a", 5))).isEqualTo(outcome(five));
		assertThat(outcome(five).round()).isEqualTo(5);
		assertThat(this.outcomes).doesNotContainKeys(six, unnamed);
		assertThat(this.barriers.labels()).as("labels, without the round that passed").isEqualTo(2);
	}

	@Test
	void allRanksMayRepeatABrokenNamedRound() {
		for (int attempt = 0; attempt < 3; attempt++) {
			long zero = named(0, "a", 5);
			long one = named(1, "a", 5);
			pass(LONG / MILLI);
			assertThat(outcome(zero).result()).isEqualTo(Result.BROKEN);
			assertThat(outcome(one).missingRanks()).containsExactly(2);
			assertThat(this.barriers.labels()).isZero();
		}
		named(2, "a", 5);
		named(0, "a", 5);
		assertThat(outcome(named(1, "a", 5)).result()).isEqualTo(Result.PASSED);
	}

	@Test
	void aRankThatHasPassedCannotWithdraw() {
		long zero = enter(0, "a", LONG);
		enter(1, "a", LONG);
		enter(2, "a", LONG);
		this.barriers.receive(0, new Withdraw(zero));
		assertThat(outcome(zero).result()).isEqualTo(Result.PASSED);
	}

	@Test
	void noRoundPassesAfterARankIsRemoved() {
		long zero = enter(0, "a", 20 * MILLI);
		long ahead = enter(2, "a", LONG);
		long further = enter(2, "b", LONG);
		this.barriers.forget(2);
		long one = enter(1, "a", LONG);
		assertThat(this.outcomes).isEmpty();
		pass(20);
		this.barriers.tick();
		assertThat(outcome(zero).missingRanks()).containsExactly(2);
		assertThat(outcome(one).result()).isEqualTo(Result.BROKEN);
		pass(LONG / MILLI);
		this.barriers.tick();
		assertThat(this.outcomes).doesNotContainKeys(ahead, further);
		assertThat(this.barriers.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void aRankMayBeSeveralRoundsAhead() {
		List<Long> ahead = IntStream.range(0, 5).mapToObj((i) -> enter(0, "a", LONG)).toList();
		for (int i = 0; i < 5; i++) {
			enter(1, "a", LONG);
			assertThat(this.outcomes).hasSize(3 * i);
			enter(2, "a", LONG);
			assertThat(outcome(ahead.get(i)).round()).isEqualTo(i);
		}
	}

	@Test
	void labelsAreIndependent() {
		enter(0, "a", LONG);
		enter(1, "a", LONG);
		enter(0, "b", 5 * MILLI);
		pass(5);
		assertThat(this.outcomes).hasSize(1);
		assertThat(outcome(enter(2, "a", LONG)).result()).isEqualTo(Result.PASSED);
	}

	@Test
	void anIdleLabelIsDroppedAndStartsAgain() {
		enter(0, "a", MILLI);
		pass(1);
		assertThat(this.barriers.labels()).isEqualTo(1);
		pass(BarrierService.FORGOTTEN_AFTER.toMillis() - 1);
		assertThat(this.barriers.labels()).isEqualTo(1);
		pass(1);
		assertThat(this.barriers.labels()).isZero();
		enter(1, "a", LONG);
		enter(2, "a", LONG);
		BarrierOutcome fresh = outcome(enter(0, "a", LONG));
		assertThat(fresh.result()).isEqualTo(Result.PASSED);
		assertThat(fresh.round()).isZero();
	}

	@Test
	void aLabelWithAWaitingRankIsNotIdle() {
		long waiting = enter(0, "a", Duration.ofHours(1).toNanos());
		pass(Duration.ofMinutes(30).toMillis());
		enter(1, "b", MILLI);
		assertThat(this.barriers.labels()).isEqualTo(2);
		enter(1, "a", LONG);
		enter(2, "a", LONG);
		assertThat(outcome(waiting).result()).isEqualTo(Result.PASSED);
	}

	@Test
	void beyondTheLimitTheLabelIdleForLongestIsDropped() {
		for (int i = 0; i <= BarrierService.MAX_LABELS; i++) {
			String label = "label " + i;
			IntStream.range(0, 3).forEach((rank) -> enter(rank, label, LONG));
		}
		assertThat(this.barriers.labels()).isEqualTo(BarrierService.MAX_LABELS);
		IntStream.range(0, 2).forEach((rank) -> enter(rank, "label 0", LONG));
		assertThat(outcome(enter(2, "label 0", LONG)).round()).isZero();
		IntStream.range(0, 2).forEach((rank) -> enter(rank, "label 5", LONG));
		assertThat(outcome(enter(2, "label 5", LONG)).round()).isEqualTo(1);
	}

	@Test
	void theMaximumTimeoutDoesNotOverflow() {
		long zero = enter(0, "a", Long.MAX_VALUE);
		enter(1, "a", Long.MAX_VALUE);
		pass(Duration.ofDays(300).toMillis());
		enter(2, "a", MILLI);
		assertThat(outcome(zero).result()).isEqualTo(Result.PASSED);
	}

	/**
	 * For any order and any deadlines, each round ends in the same way for all waiting
	 * ranks, and missing ranks get that outcome when they enter.
	 */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5, 8 })
	void everyInterleavingGivesAllRanksOfARoundTheSameOutcome(int worldSize) {
		for (int seed = 0; seed < 200; seed++) {
			this.barriers = world(worldSize);
			this.outcomes.clear();
			runAtRandom(worldSize, new Random(seed));
		}
	}

	private void runAtRandom(int worldSize, Random random) {
		int calls = 12;
		List<Integer> order = new ArrayList<>();
		for (int call = 0; call < calls; call++) {
			IntStream.range(0, worldSize).forEach(order::add);
		}
		Collections.shuffle(order, random);
		Map<Long, Integer> rankOf = new HashMap<>();
		Map<Long, Integer> roundOf = new HashMap<>();
		int[] next = new int[worldSize];
		for (int rank : order) {
			long ticket = enter(rank, "a", (1 + random.nextInt(30)) * MILLI);
			rankOf.put(ticket, rank);
			roundOf.put(ticket, next[rank]++);
			pass(random.nextInt(5));
		}
		pass(30);
		assertThat(this.outcomes).hasSize(worldSize * calls);
		Map<Integer, Set<Integer>> came = new HashMap<>();
		Map<Integer, Set<List<Integer>>> missing = new HashMap<>();
		this.outcomes.forEach((ticket, outcome) -> {
			int round = roundOf.get(ticket);
			assertThat(outcome.round()).isEqualTo(round);
			missing.computeIfAbsent(round, (key) -> new HashSet<>()).add(outcome.missingRanks());
			if (outcome.result() == Result.LATE) {
				assertThat(outcome.missingRanks()).contains(rankOf.get(ticket));
			}
			else {
				came.computeIfAbsent(round, (key) -> new HashSet<>()).add(rankOf.get(ticket));
				assertThat(outcome.missingRanks()).doesNotContain(rankOf.get(ticket));
				assertThat(outcome.missingRanks().isEmpty()).isEqualTo(outcome.result() == Result.PASSED);
			}
		});
		missing.forEach((round, lists) -> {
			assertThat(lists).as("missing ranks of barrier %d", round).hasSize(1);
			assertThat(came.get(round)).hasSize(worldSize - lists.iterator().next().size());
		});
	}

	private long tentative(int rank, String label, long round) {
		long ticket = this.tickets++;
		this.barriers.receive(rank, new EnterRound(ticket, label, round, true, LONG, null));
		return ticket;
	}

	private long named(int rank, String label, long round) {
		long ticket = this.tickets++;
		this.barriers.receive(rank, new EnterRound(ticket, label, round, false, LONG, null));
		return ticket;
	}

	private long enter(int rank, String label, long timeoutNanos) {
		long ticket = this.tickets++;
		this.barriers.receive(rank, new EnterRound(ticket, label, RoundWait.NEXT, false, timeoutNanos, null));
		return ticket;
	}

	private void pass(long millis) {
		this.now += millis * MILLI;
		this.barriers.tick();
	}

	private BarrierOutcome outcome(long ticket) {
		assertThat(this.outcomes).containsKey(ticket);
		return this.outcomes.get(ticket);
	}

}
