package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.MemoryKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class MismatchDetectorTest {

	private static final int WORLD_SIZE = 4;

	private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);

	private final List<String> asked = new ArrayList<>();

	private final List<Failure> mismatches = new ArrayList<>();

	private final Set<String> decided = new HashSet<>();

	private final MismatchDetector detector = new MismatchDetector(new PeerTable(WORLD_SIZE, this.clock::get),
			this.clock::get, new NoticeRecorder(this::asked), this.decided::contains,
			(rank, mismatch) -> this.mismatches.add(mismatch));

	private void asked(int rank, Notice notice) {
		QueryCall query = (QueryCall) notice;
		this.asked.add(rank + " " + query.group() + " " + query.sequence());
	}

	private void report(int rank, CallReport call) {
		this.detector.report(rank, List.of(call), true);
	}

	private void report(int rank, List<CallReport> calls) {
		this.detector.report(rank, calls, false);
	}

	private static CallReport report(String group, long sequence, Collective collective, long millis) {
		return new CallReport(group, new CallSignature(sequence, collective, 5, 0, DataType.INT32, ReduceOp.SUM, 0),
				MemoryKind.HOST, Duration.ofMillis(millis), Duration.ofSeconds(millis));
	}

	private void pass(Duration time) {
		this.clock.addAndGet(time.toNanos());
		this.detector.tick();
	}

	@Test
	void differentCallsAtOneSequenceNumberAreAMismatchThatNamesBoth() {
		report(2, report("world", 3, Collective.SCATTER, 110));
		report(1, report("world", 3, Collective.SCATTER, 105));
		report(0, report("world", 3, Collective.GATHER, 0));
		assertThat(this.mismatches).containsExactly(new Failure(Failure.Kind.MISMATCH, "world", 3, Collective.GATHER,
				List.of(0, 2),
				"rank 0 called gather #3 (count 5, int32, root 0), rank 2 called scatter #3 (count 5, int32, root 0)",
				Duration.ofMillis(110), Duration.ofSeconds(110)));
	}

	@Test
	void equalCallsOtherSequenceNumbersAndOtherGroupsAreNoMismatch() {
		report(0, report("world", 3, Collective.GATHER, 100));
		report(1, report("world", 3, Collective.GATHER, 700));
		report(1, report("world", 4, Collective.BARRIER, 100));
		report(2, report("world", 2, Collective.SCATTER, 100));
		report(3, report("side", 3, Collective.BROADCAST, 100));
		report(0, report("world", 4, Collective.BARRIER, 100));
		assertThat(this.mismatches).isEmpty();
	}

	@Test
	void differentMemoryKindsAreAMismatchUnlessOneIsUnknown() {
		report(0, in(MemoryKind.DEVICE));
		report(1, in(MemoryKind.UNKNOWN));
		report(2, in(MemoryKind.DEVICE));
		assertThat(this.mismatches).isEmpty();
		report(1, in(MemoryKind.HOST));
		assertThat(this.mismatches).extracting(Failure::detail)
			.containsExactly("rank 0 called barrier #7 on the device, rank 1 called barrier #7 in host memory");
	}

	private static CallReport in(MemoryKind memory) {
		return new CallReport("world", report("world", 7, Collective.BARRIER, 0).call(), memory, Duration.ZERO,
				Duration.ZERO);
	}

	@Test
	void aDifferenceInAnyFieldIsAMismatch() {
		CallSignature first = new CallSignature(0, Collective.REDUCE, 5, 2, DataType.INT32, ReduceOp.SUM, 0);
		List<CallSignature> others = List.of(
				new CallSignature(0, Collective.ALL_REDUCE, 5, 2, DataType.INT32, ReduceOp.SUM, 0),
				new CallSignature(0, Collective.REDUCE, 6, 2, DataType.INT32, ReduceOp.SUM, 0),
				new CallSignature(0, Collective.REDUCE, 5, 3, DataType.INT32, ReduceOp.SUM, 0),
				new CallSignature(0, Collective.REDUCE, 5, 2, DataType.FLOAT32, ReduceOp.SUM, 0),
				new CallSignature(0, Collective.REDUCE, 5, 2, DataType.INT32, ReduceOp.MAX, 0),
				new CallSignature(0, Collective.REDUCE, 5, 2, DataType.INT32, ReduceOp.SUM, 1));
		for (CallSignature other : others) {
			report(0, new CallReport("world", first, MemoryKind.HOST, Duration.ZERO, Duration.ZERO));
			report(1, new CallReport("world", other, MemoryKind.HOST, Duration.ZERO, Duration.ZERO));
			assertThat(this.mismatches).hasSize(1);
			this.mismatches.clear();
			this.detector.forget("world");
		}
	}

	@Test
	void silentRanksAreAskedOnceAfterTheDelay() {
		assertThat(this.detector.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
		report(2, report("world", 3, Collective.GATHER, 100));
		assertThat(this.detector.nanosUntilDue()).isEqualTo(MismatchDetector.ASK_AFTER.toNanos());
		pass(MismatchDetector.ASK_AFTER.minusNanos(1));
		report(0, report("world", 3, Collective.GATHER, 100));
		assertThat(this.asked).isEmpty();
		pass(Duration.ofNanos(1));
		assertThat(this.asked).containsExactly("1 world 3", "3 world 3");
		report(1, report("world", 3, Collective.GATHER, 0));
		assertThat(this.detector.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
		pass(Duration.ofHours(1));
		assertThat(this.asked).hasSize(2);
	}

	@Test
	void noRankIsAskedAboutAGroupThatHasItsVerdict() {
		report(2, report("world", 3, Collective.GATHER, 100));
		report(2, report("side", 1, Collective.GATHER, 100));
		this.decided.add("world");
		pass(Duration.ofSeconds(1));
		assertThat(this.asked).containsExactly("0 side 1", "1 side 1", "3 side 1");
		assertThat(this.detector.places()).isEqualTo(1);
	}

	@Test
	void theNumberOfPlacesIsLimited() {
		for (int group = 0; group < 1000; group++) {
			for (int sequence = 0; sequence < 100; sequence++) {
				report(1, report("group " + group, sequence, Collective.BARRIER, 100));
			}
		}
		assertThat(this.detector.places()).isEqualTo(MismatchDetector.MAX_GROUPS * MismatchDetector.MAX_PLACES);
		pass(Duration.ofSeconds(1));
		assertThat(this.asked).hasSize(MismatchDetector.MAX_GROUPS * MismatchDetector.MAX_PLACES * (WORLD_SIZE - 1));
		assertThat(this.asked.getLast()).isEqualTo("3 group 999 99");
	}

	@Test
	void aPlaceDroppedTooEarlyIsComparedAgainByLaterReports() {
		report(1, report("world", 0, Collective.GATHER, 100));
		for (int sequence = 1; sequence <= MismatchDetector.MAX_PLACES; sequence++) {
			report(2, report("world", sequence, Collective.BARRIER, 100));
		}
		report(3, report("world", 0, Collective.SCATTER, 100));
		assertThat(this.mismatches).isEmpty();
		pass(Duration.ofSeconds(1));
		assertThat(this.asked).contains("1 world 0");
		report(1, report("world", 0, Collective.GATHER, 0));
		assertThat(this.mismatches).hasSize(1);
	}

	private static List<CallReport> batch(String group, int first, int count, Collective collective) {
		return IntStream.range(first, first + count)
			.mapToObj((sequence) -> report(group, sequence, collective, 0))
			.toList();
	}

	@Test
	void aDifferenceAnywhereInABatchIsAMismatch() {
		report(1, batch("world", 0, 300, Collective.GATHER));
		report(0, batch("world", 0, 100, Collective.GATHER));
		assertThat(this.mismatches).isEmpty();
		report(0, batch("world", 100, 1, Collective.SCATTER));
		report(0, batch("world", 101, 100, Collective.GATHER));
		assertThat(this.mismatches).singleElement().satisfies((mismatch) -> {
			assertThat(mismatch.sequence()).isEqualTo(100);
			assertThat(mismatch.detail()).startsWith("rank 0 called scatter #100")
				.contains("rank 1 called gather #100");
		});
	}

	@Test
	void inBatchesOnlyTheNewestCallIsAskedForAndOnlyIfItStaysTheNewest() {
		report(1, batch("world", 0, 50, Collective.GATHER));
		report(2, batch("world", 0, 51, Collective.GATHER));
		pass(MismatchDetector.ASK_AFTER.minusNanos(1));
		report(1, batch("world", 50, 2, Collective.GATHER));
		pass(Duration.ofNanos(1));
		assertThat(this.asked).isEmpty();
		pass(MismatchDetector.ASK_AFTER);
		assertThat(this.asked).containsExactly("0 world 51", "2 world 51", "3 world 51");
	}

	@Test
	void ranksAreAskedAboutAnEarlierCallInWhichARankWaits() {
		report(2, report("world", 3, Collective.GATHER, 100));
		report(0, batch("world", 4, 5, Collective.GATHER));
		pass(MismatchDetector.ASK_AFTER);
		assertThat(this.asked).contains("0 world 3", "1 world 3", "1 world 8").doesNotContain("1 world 4");
	}

	@Test
	void theNumberOfPlacesOfBatchesIsLimited() {
		for (int first = 0; first < 10_000; first += 100) {
			report(1, batch("world", first, 100, Collective.GATHER));
		}
		assertThat(this.detector.places()).isEqualTo(MismatchDetector.MAX_PLACES_OF_BATCHES);
	}

}
