package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.control.BarrierOutcome.Result;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.CallMatch.Announced;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.spi.CallSignature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class AnnouncedCallsTest {

	private static final long LONG = Duration.ofMinutes(1).toNanos();

	private static final CallSignature SUM = call(Collective.ALL_REDUCE, 4);

	private static final CallSignature ROOTS = call(Collective.BROADCAST, 8);

	private long now;

	private long tickets;

	private final Map<Long, CallMatch> ends = new HashMap<>();

	private final BarrierService service = new BarrierService(3, () -> this.now, new RecordedNotices((rank, notice) -> {
		RoundEnded end = (RoundEnded) notice;
		assertThat(this.ends.put(end.ticket(), end.match())).as("a second end of one call").isNull();
	}));

	@Test
	void equalCallsGetTheSameConsecutiveOrderOnEveryRank() {
		for (long order = 0; order < 3; order++) {
			String label = "label-" + order;
			for (long ticket : all(label, SUM, SUM, SUM)) {
				assertThat(this.ends.get(ticket).order()).isEqualTo(order);
				assertThat(this.ends.get(ticket).calls()).extracting(Announced::rank).containsExactly(0, 1, 2);
			}
		}
	}

	@Test
	void aNegativeCountMatchesAnyCount() {
		List<Long> tickets = all("a", ROOTS.withCount(-1), ROOTS, ROOTS.withCount(-1));
		assertThat(this.ends.get(tickets.getFirst()).matched()).isTrue();
		assertThat(this.ends.get(tickets.getFirst()).calls().get(1).call().count()).isEqualTo(8);
	}

	@Test
	void differentCallsAreReportedToEveryRankAndGetNoOrder() {
		for (CallSignature other : List.of(SUM.withCount(5), call(Collective.BARRIER, 0),
				new CallSignature(0, Collective.ALL_REDUCE, 4, 0, DataType.INT32, ReduceOp.SUM, 0),
				new CallSignature(0, Collective.ALL_REDUCE, 4, 0, DataType.FLOAT32, ReduceOp.MAX, 0))) {
			for (long ticket : all("a", SUM, SUM, other)) {
				CallMatch match = this.ends.get(ticket);
				assertThat(match.matched()).isFalse();
				assertThat(match.outcome().result()).isEqualTo(Result.PASSED);
				assertThat(match.calls()).contains(new Announced(0, SUM), new Announced(2, other));
			}
		}
		assertThat(this.ends.get(all("a", SUM, SUM, SUM).getFirst()).order()).isZero();
	}

	@Test
	void aMissingRankIsNamedALateRankIsInformedAndTheNextCallMatches() {
		long zero = announce(0, "a", SUM, 100);
		long two = announce(2, "a", SUM, LONG);
		this.now += 100;
		this.service.tick();
		for (long ticket : new long[] { zero, two }) {
			assertThat(this.ends.get(ticket).matched()).isFalse();
			assertThat(this.ends.get(ticket).outcome().missingRanks()).containsExactly(1);
			assertThat(this.ends.get(ticket).calls()).extracting(Announced::rank).containsExactly(0, 2);
		}
		CallMatch late = this.ends.get(announce(1, "a", SUM, LONG));
		assertThat(late.outcome().result()).isEqualTo(Result.LATE);
		assertThat(late.matched()).isFalse();
		assertThat(this.ends.get(all("a", SUM, SUM, SUM).get(1)).order()).isZero();
	}

	@Test
	void aWithdrawnAnnouncementIsNotMatched() {
		long abandoned = announce(1, "a", SUM.withCount(5), LONG);
		this.service.receive(1, new Withdraw(abandoned));
		assertThat(this.ends.get(abandoned).outcome().result()).isEqualTo(Result.WITHDRAWN);
		assertThat(this.ends.get(abandoned).matched()).isFalse();
		long zero = announce(0, "a", SUM, LONG);
		announce(2, "a", SUM, LONG);
		assertThat(this.ends).doesNotContainKey(zero);
		announce(1, "a", SUM, LONG);
		assertThat(this.ends.get(zero).order()).isZero();
		assertThat(this.ends.get(zero).calls()).contains(new Announced(1, SUM));
	}

	@Test
	void aBarrierAndAnAnnouncedCallOfOneLabelAreSeparate() {
		long zero = announce(0, "a", SUM, LONG);
		announce(1, "a", SUM, LONG);
		this.service.receive(2, new EnterRound(this.tickets++, "a", RoundWait.NEXT, false, LONG, null));
		assertThat(this.ends).doesNotContainKey(zero);
		announce(2, "a", SUM, LONG);
		assertThat(this.ends.get(zero).order()).isZero();
	}

	private List<Long> all(String label, CallSignature... calls) {
		List<Long> announced = new ArrayList<>();
		for (int rank = 0; rank < calls.length; rank++) {
			announced.add(announce(rank, label, calls[rank], LONG));
		}
		return announced;
	}

	private long announce(int rank, String label, CallSignature call, long timeoutNanos) {
		long ticket = this.tickets++;
		this.service.receive(rank, new EnterRound(ticket, label, RoundWait.NEXT, false, timeoutNanos, call));
		return ticket;
	}

	private static CallSignature call(Collective collective, long count) {
		return new CallSignature(0, collective, count, 0, DataType.FLOAT32, ReduceOp.SUM, 0);
	}

}
