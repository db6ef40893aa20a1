package io.tutti.benchmark.peer;

import java.util.List;

import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

@Timeout(10)
class ComparisonTest {

	private final Comparison comparison = new Comparison();

	private static Measurement line(String system, String transport, long bytes, double p50) {
		return new Measurement(system, transport, Operation.ALL_REDUCE, 2, bytes, bytes / 4, p50, p50 / 2, p50 * 2, 10,
				0);
	}

	@BeforeEach
	void measure() {
		this.comparison.add(line("tutti", "tcp", 4, 5));
		this.comparison.add(line("tutti", "tcp", 1024, 8));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 4, 10), line("openmpi-4", "shm", 1024, 12),
				line("openmpi-4", "shm-ucx", 4, 20), line("openmpi-4", "shm-ucx", 1024, 4)));
		this.comparison.add(Peer.GLOO, List.of(line("gloo", "tcp-ring", 4, 50)));
	}

	@Test
	void aRatioIsThePeersTimeDividedByOurs() {
		assertThat(this.comparison.lines().get(0).ratios()).containsEntry(Peer.OPENMPI, 2.0)
			.containsEntry(Peer.GLOO, 10.0);
	}

	@Test
	void theFastestVariantRepresentsItsPeerAtEachSize() {
		assertThat(this.comparison.lines().get(1).ratios()).containsExactly(java.util.Map.entry(Peer.OPENMPI, 0.5));
		assertThat(this.comparison.lines().stream().map((line) -> line.line().transport())).containsExactly("tcp",
				"tcp", "shm", "shm-ucx", "tcp-ring");
	}

	@Test
	void aVariantThatFailedInSomeRoundsDoesNotRepresentItsPeer() {
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 1024, 14)));
		assertThat(this.comparison.lines().get(1).ratios().get(Peer.OPENMPI)).isEqualTo(13.0 / 8);
	}

	@Test
	void severalRoundsGiveMedianLowestAndHighest() {
		this.comparison.add(line("tutti", "tcp", 4, 2));
		this.comparison.add(line("tutti", "tcp", 4, 90));
		ComparedLine own = this.comparison.lines().getFirst();
		assertThat(own.rounds()).isEqualTo(3);
		assertThat(own.line().p50Micros()).isEqualTo(5);
		assertThat(own.line().minMicros()).isEqualTo(2);
		assertThat(own.line().maxMicros()).isEqualTo(90);
		assertThat(own.line().samples()).isEqualTo(30);
	}

	@Test
	void theMedianOfTwoRoundsIsTheirMean() {
		this.comparison.add(line("tutti", "tcp", 4, 7));
		assertThat(this.comparison.lines().getFirst().line().p50Micros()).isEqualTo(6, within(1e-9));
	}

	@Test
	void theTableHasAColumnForEachPeerAndADashForAMissingValue() {
		List<String> lines = report(BenchmarkReport.TABLE);
		assertThat(lines.getFirst()).endsWith("vs openmpi     vs gloo");
		assertThat(lines.get(3)).startsWith("  tutti").endsWith("2.00       10.00");
		assertThat(lines.get(4)).startsWith("  tutti").endsWith("0.50           -");
		assertThat(lines.get(5)).startsWith("  openmpi-4").endsWith("-           -");
	}

	@Test
	void everyTsvLineHasAsManyFieldsAsTheHeader() {
		List<String> lines = report(BenchmarkReport.TSV);
		assertThat(lines.getFirst()).startsWith("system\ttransport\top\t").endsWith("\tvs_openmpi\tvs_gloo");
		assertThat(lines).hasSize(6).allSatisfy((line) -> assertThat(line.split("\t", -1)).hasSize(12));
		assertThat(lines.get(1)).endsWith("\t2.0000\t10.0000");
		assertThat(lines.get(2)).endsWith("\t0.5000\t");
	}

	@Test
	void everyJsonObjectHasTheAvailableRatios() {
		List<String> lines = report(BenchmarkReport.JSON);
		JsonNode first = JsonMapper.shared().readTree(lines.getFirst());
		assertThat(first.get("vs").get("gloo").asDouble()).isEqualTo(10);
		assertThat(first.get("rounds").asInt()).isEqualTo(1);
		assertThat(JsonMapper.shared().readTree(lines.getLast()).get("vs")).isEmpty();
	}

	private List<String> report(BenchmarkReport format) {
		return new ComparisonReport(format, List.of(Peer.OPENMPI, Peer.GLOO)).lines(this.comparison);
	}

}
