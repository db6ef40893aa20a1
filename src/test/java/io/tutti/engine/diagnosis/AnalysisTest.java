package io.tutti.engine.diagnosis;

import java.util.ArrayList;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.diagnosis.GroupFinding.Kind;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.spi.CallSignature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class AnalysisTest {

	private static final long MILLI = 1_000_000;

	/** Ranks' clocks are far apart; the offset makes up for it. */
	private static final long APART = 3_600_000 * MILLI;

	private static final long TAKEN = 60_000 * MILLI;

	private final Map<Integer, RankTrace> traces = new HashMap<>();

	private void trace(int rank, GroupTrace... groups) {
		this.traces.put(rank, new RankTrace(rank, 0, TAKEN + rank * APART, -rank * APART, List.of(groups), List.of()));
	}

	private static GroupTrace world(int worldSize, CallRecord... calls) {
		List<CallRecord> all = Arrays.asList(calls);
		return new GroupTrace("world", IntStream.range(0, worldSize).boxed().toList(), "tcp",
				all.isEmpty() ? -1 : all.getLast().call().sequence(), all);
	}

	private static CallRecord done(int rank, long sequence, long startMillis) {
		long start = startMillis * MILLI + rank * APART;
		return new CallRecord(reduce(sequence), 64, CallRecord.State.DONE, start, start, start + MILLI, "ring", null);
	}

	private static CallRecord running(int rank, CallSignature call, long startMillis) {
		long start = startMillis * MILLI + rank * APART;
		return new CallRecord(call, 64, CallRecord.State.RUNNING, start, start, 0, "", "Loop.step:12");
	}

	private static CallSignature reduce(long sequence) {
		return new CallSignature(sequence, Collective.ALL_REDUCE, 16, 0, DataType.FLOAT32, ReduceOp.SUM, 0);
	}

	private static CallSignature barrier(long sequence) {
		return new CallSignature(sequence, Collective.BARRIER, 0, 0, DataType.FLOAT32, ReduceOp.SUM, 0);
	}

	private GroupFinding only() {
		Analysis analysis = Analysis.of(3, this.traces);
		assertThat(analysis.findings()).hasSize(1);
		assertThat(analysis.verdict()).contains(analysis.findings().getFirst().text());
		return analysis.findings().getFirst();
	}

	@Test
	void aRankThatHasNotEnteredIsMissing() {
		trace(0, world(3, done(0, 6, 40_000), running(0, reduce(7), 48_000)));
		trace(1, world(3, done(1, 6, 40_000), running(1, reduce(7), 48_500)));
		trace(2, world(3, done(2, 6, 40_000)));
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.MISSING);
		assertThat(finding.ranks()).containsExactly(2);
		assertThat(finding.sequence()).isEqualTo(7);
		assertThat(finding.text())
			.isEqualTo("rank 2 is missing from all-reduce #7 (count 16, float32, sum) of group world: rank 2 left, "
					+ "20.0 s ago, all-reduce #6 (count 16, float32, sum); ranks 0 and 1 have been in it for 12.0 s");
	}

	@Test
	void aRankWithoutATraceIsSilentAndMissing() {
		trace(0, world(3, running(0, reduce(0), 48_000)));
		trace(2, world(3, running(2, reduce(0), 48_000)));
		Analysis analysis = Analysis.of(3, this.traces);
		assertThat(analysis.silentRanks()).containsExactly(1);
		assertThat(analysis.verdict()).startsWith("rank 1 returned no trace. rank 1 is missing from all-reduce #0");
		assertThat(analysis.verdict()).contains("rank 1 does not answer");
	}

	@Test
	void withoutRankZeroOnlyRankZeroIsMissing() {
		trace(2, world(3, running(2, reduce(4), 48_000)));
		Analysis analysis = Analysis.of(3, this.traces);
		assertThat(analysis.silentRanks()).containsExactly(0, 1);
		assertThat(analysis.findings().getFirst().ranks()).containsExactly(0);
		assertThat(analysis.verdict()).startsWith(
				"rank 0 returned no trace, and rank 1 can only be queried through rank 0. rank 0 is missing from");
	}

	@Test
	void aMismatchNamesTheRanksAndBothCalls() {
		trace(0, world(3, running(0, reduce(3), 48_000)));
		trace(1, world(3, running(1, barrier(3), 48_000)));
		trace(2, world(3, running(2, reduce(3), 48_000)));
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.MISMATCH);
		assertThat(finding.ranks()).containsExactly(1);
		assertThat(finding.text()).isEqualTo("ranks called different collectives at #3 of group world: "
				+ "ranks 0 and 2 called all-reduce #3 (count 16, float32, sum), rank 1 called barrier #3");
	}

	@Test
	void aLongCallThatAllRanksHaveEnteredNamesNoRanks() {
		for (int rank = 0; rank < 3; rank++) {
			trace(rank, world(3, running(rank, reduce(3), 48_000 + 1000L * rank)));
		}
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.LONG_CALL);
		assertThat(finding.ranks()).isEmpty();
		assertThat(finding.text()).endsWith("have been in it for 12.0 s, rank 2 entered last, 2.0 s after the first");
	}

	/** Calls of three ranks at regular times in milliseconds; rank 1 is 30 ms late. */
	private void traceLateRank(int count, long first, long period) {
		for (int rank = 0; rank < 3; rank++) {
			List<CallRecord> calls = new ArrayList<>();
			for (int sequence = 0; sequence < count; sequence++) {
				calls.add(done(rank, sequence, first + period * sequence + ((rank == 1) ? 30 : 0)));
			}
			trace(rank, world(3, calls.toArray(CallRecord[]::new)));
		}
	}

	@Test
	void aRankThatIsLateRepeatedlyIsAStraggler() {
		traceLateRank(20, 0, 1000);
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.STRAGGLING);
		assertThat(finding.ranks()).containsExactly(1);
		assertThat(finding.text()).isEqualTo("group world is at #19: rank 1 was last in 20 of the last 20 calls, "
				+ "30.0 ms after the first on average and 30.0 ms at most");
		assertThat(finding.arrivals()).extracting(GroupFinding.Arrival::meanMicros).containsExactly(0L, 30_000L, 0L);
	}

	@Test
	void lateArrivalsAreForgottenAfterAMinute() {
		traceLateRank(20, -60_000, 1000);
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.MOVING);
		assertThat(finding.arrivals()).isEmpty();
		assertThat(finding.text()).isEqualTo("group world is at #19");
	}

	/** One step takes 20 s. */
	@Test
	void aGroupWithFewCallsIsComparedByTheLatestFive() {
		traceLateRank(8, -90_000, 20_000);
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.STRAGGLING);
		assertThat(finding.text()).startsWith("group world is at #7: rank 1 was last in 5 of the last 5 calls");
	}

	@Test
	void aRankThatWasLateAtOneCallIsNoStraggler() {
		trace(0, world(3, done(0, 0, 1000)));
		trace(1, world(3, done(1, 0, 9000)));
		trace(2, world(3, done(2, 0, 1000)));
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.MOVING);
		assertThat(finding.text()).startsWith("group world is at #0; rank 1 was last in 1 of the last 1 calls, 8.0 s");
	}

	@Test
	void aCallThatHasJustBegunNeedsNoAttention() {
		trace(0, world(3, done(0, 6, 59_000), running(0, reduce(7), 59_990)));
		trace(1, world(3, done(1, 6, 59_001)));
		trace(2, world(3, done(2, 6, 59_000)));
		GroupFinding finding = only();
		assertThat(finding.kind()).isEqualTo(Kind.MOVING);
		assertThat(finding.isTrouble()).isFalse();
	}

	@Test
	void aSubgroupIsComparedByItsOwnRanks() {
		GroupTrace idle = world(3);
		GroupTrace pair = new GroupTrace("world/0.1", List.of(2, 0), "shm", 4, List.of(running(2, reduce(4), 50_000)));
		trace(0, idle);
		trace(1, idle);
		trace(2, idle, pair);
		Analysis analysis = Analysis.of(3, this.traces);
		assertThat(analysis.findings()).extracting(GroupFinding::kind).containsExactly(Kind.MISSING, Kind.IDLE);
		assertThat(analysis.findings().getFirst().ranks()).containsExactly(0);
		assertThat(analysis.verdict()).contains("rank 0 has entered no call of it");
	}

	/**
	 * A rank that is no root may complete a reduce, and close the group, before others.
	 */
	@Test
	void aRankThatLeftTheGroupAfterTheCallIsNotMissing() {
		GroupTrace root = new GroupTrace("part", List.of(0, 1, 2), "shm", 4, List.of(running(0, reduce(4), 50_000)));
		GroupTrace late = new GroupTrace("part", List.of(0, 1, 2), "shm", 3, List.of(done(1, 3, 40_000)));
		trace(0, world(3), root);
		trace(1, world(3), late);
		trace(2, world(3));
		left(2, 4);
		GroupFinding finding = Analysis.of(3, this.traces).findings().getFirst();
		assertThat(finding.kind()).isEqualTo(Kind.MISSING);
		assertThat(finding.ranks()).containsExactly(1);
		left(2, 2);
		finding = Analysis.of(3, this.traces).findings().getFirst();
		assertThat(finding.ranks()).containsExactly(1, 2);
		assertThat(finding.text()).contains("rank 2 left the group after #2");
	}

	private void left(int rank, long last) {
		this.traces.compute(rank, (_, trace) -> trace.withLeft(new TreeMap<>(Map.of("part", last))));
	}

	@Test
	void aDecodedTraceEqualsTheOriginal() {
		trace(1, world(3, done(1, 6, 40_000), running(1, barrier(7), 48_000)));
		RankTrace trace = this.traces.get(1);
		assertThat(RankTrace.decodeAll(Map.of(1, trace.encode()))).containsExactly(Map.entry(1, trace));
	}

	@Test
	void invalidTracesAreRejected() {
		trace(1, world(3, done(1, 6, 40_000), running(1, barrier(7), 48_000)));
		byte[] whole = this.traces.get(1).encode();
		for (int length = 0; length < whole.length; length++) {
			byte[] cut = Arrays.copyOf(whole, length);
			assertThatThrownBy(() -> decode(cut)).isInstanceOf(MalformedFrameException.class);
			assertThat(RankTrace.decodeAll(Map.of(1, cut))).isEmpty();
		}
		byte[] longer = Arrays.copyOf(whole, whole.length + 1);
		assertThatThrownBy(() -> decode(longer)).hasMessage("1 bytes too many in a frame");
		byte[] huge = whole.clone();
		huge[28] = 0x7f;
		assertThatThrownBy(() -> decode(huge)).isInstanceOf(MalformedFrameException.class)
			.hasMessageContaining("a list of");
	}

	@Test
	void aTraceOfAnotherRankIsOmitted() {
		trace(1, world(3, done(1, 6, 40_000)));
		assertThat(RankTrace.decodeAll(Map.of(2, this.traces.get(1).encode()))).isEmpty();
	}

	private static void decode(byte[] bytes) throws MalformedFrameException {
		RecordCodec.decode(RankTrace.class, ByteBuffer.wrap(bytes));
	}

}
