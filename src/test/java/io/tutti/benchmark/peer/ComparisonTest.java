package io.tutti.benchmark.peer;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.CoreDistances;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import io.tutti.benchmark.peer.ComparedLine.Ratio;
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

	private final CoreDistances distances = new CoreDistances();

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
		assertThat(this.comparison.lines().get(0).ratios()).containsEntry(Peer.OPENMPI, new Ratio(2, 2))
			.containsEntry(Peer.GLOO, new Ratio(10, 10));
	}

	@Test
	void theFastestVariantRepresentsItsPeerAtEachSize() {
		assertThat(this.comparison.lines().get(1).ratios())
			.containsExactly(Map.entry(Peer.OPENMPI, new Ratio(0.5, 0.5)));
		assertThat(this.comparison.lines().stream().map((line) -> line.line().transport())).containsExactly("tcp",
				"tcp", "shm", "shm-ucx", "tcp-ring");
	}

	@Test
	void aPeerWhoseFastestVariantFailedInSomeRoundsHasNoRatio() {
		this.comparison.add(line("tutti", "tcp", 1024, 8));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 1024, 14)));
		assertThat(this.comparison.lines().get(1).ratios()).isEmpty();
	}

	@Test
	void aSlowerVariantThatFailedInSomeRoundsDoesNotCount() {
		this.comparison.add(line("tutti", "tcp", 1024, 8));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm-ucx", 1024, 6)));
		assertThat(this.comparison.lines().get(1).ratios().get(Peer.OPENMPI)).isEqualTo(new Ratio(5.0 / 8, 4.0 / 8));
	}

	@Test
	void aPeerThatFailedInSomeRoundsHasNoRatio() {
		this.comparison.add(line("tutti", "tcp", 4, 5));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 4, 10)));
		assertThat(this.comparison.lines().getFirst().ratios()).containsOnlyKeys(Peer.OPENMPI);
		List<String> lines = report(BenchmarkReport.TABLE);
		assertThat(lines.get(3)).containsPattern(" 0 +2 +2.00 +2.00 +- +-$");
		assertThat(lines.getLast()).startsWith("  gloo").containsPattern(" 0 +1( +-){4}$");
	}

	@Test
	void wrongResultsOfOurOwnHaveNoRatio() {
		Comparison wrong = new Comparison();
		wrong.add(new Measurement("tutti", "tcp", Operation.ALL_REDUCE, 2, 4, 1, 5, 5, 5, 10, 1));
		wrong.add(Peer.GLOO, List.of(line("gloo", "tcp", 4, 50)));
		assertThat(wrong.lines().getFirst().ratios()).isEmpty();
	}

	@Test
	void theFastestRoundsOfAllVariantsAreCompared() {
		this.comparison.add(line("tutti", "tcp", 4, 2));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 4, 18), line("openmpi-4", "shm-ucx", 4, 9)));
		assertThat(this.comparison.lines().getFirst().ratios().get(Peer.OPENMPI)).isEqualTo(new Ratio(4, 4.5));
	}

	@Test
	void roundsThatDifferByMoreThanTheFactorTwoAreNoted() {
		assertThat(this.comparison.notes()).isEmpty();
		this.comparison.add(line("tutti", "tcp", 4, 10));
		this.comparison.add(Peer.GLOO, List.of(line("gloo", "tcp-ring", 4, 101)));
		assertThat(this.comparison.notes())
			.containsExactly("in 1 of 1 lines of gloo the slowest round took more than twice as long as the fastest");
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
		assertThat(lines.getFirst()).endsWith("rounds  vs openmpi  fastest     vs gloo  fastest");
		assertThat(lines.get(3)).startsWith("  tutti").endsWith("1        2.00     2.00       10.00    10.00");
		assertThat(lines.get(4)).startsWith("  tutti").endsWith("0.50     0.50           -        -");
		assertThat(lines.get(5)).startsWith("  openmpi-4").endsWith("-        -           -        -");
	}

	@Test
	void everyTsvLineHasAsManyFieldsAsTheHeader() {
		List<String> lines = report(BenchmarkReport.TSV);
		assertThat(lines.getFirst()).startsWith("system\ttransport\top\t")
			.endsWith("\twrong\trounds\tvs_openmpi\tfastest_vs_openmpi\tvs_gloo\tfastest_vs_gloo");
		assertThat(lines).hasSize(6).allSatisfy((line) -> assertThat(line.split("\t", -1)).hasSize(16));
		assertThat(lines.get(1)).endsWith("\t0\t1\t2.000\t2.000\t10.00\t10.00");
		assertThat(lines.get(2)).endsWith("\t0.5000\t0.5000\t\t");
	}

	/** Where other processes hold the cores, a call may take a thousand times as long. */
	@Test
	void aSmallRatioKeepsItsDigits() {
		this.comparison.add(line("tutti", "tcp", 16, 4_000_000));
		this.comparison.add(Peer.OPENMPI, List.of(line("openmpi-4", "shm", 16, 1)));
		assertThat(report(BenchmarkReport.TSV)).anyMatch((line) -> line.endsWith("\t2.500e-07\t2.500e-07\t\t"));
	}

	@Test
	void everyJsonObjectHasTheAvailableRatios() {
		List<String> lines = report(BenchmarkReport.JSON);
		JsonNode first = JsonMapper.shared().readTree(lines.getFirst());
		assertThat(first.get("vs").get("gloo").asDouble()).isEqualTo(10);
		assertThat(first.get("fastestVs").get("openmpi").asDouble()).isEqualTo(2);
		assertThat(first.get("rounds").asInt()).isEqualTo(1);
		assertThat(JsonMapper.shared().readTree(lines.getLast()).get("vs")).isEmpty();
	}

	@Test
	void theDistancesOfTheCoresAreInTheTableAndInEveryJsonObject() {
		this.distances.add("gloo", OptionalDouble.of(120), OptionalDouble.of(390));
		assertThat(report(BenchmarkReport.TABLE).get(3)).startsWith("# ns of a cache line").endsWith(": gloo 120-390");
		for (String line : report(BenchmarkReport.JSON)) {
			JsonNode runs = JsonMapper.shared().readTree(line).get("coreNanos").get("gloo");
			assertThat(runs.get(0).get(1).asDouble()).isEqualTo(390);
		}
		assertThat(report(BenchmarkReport.TSV)).hasSize(6);
	}

	private List<String> report(BenchmarkReport format) {
		return new ComparisonReport(format, List.of(Peer.OPENMPI, Peer.GLOO)).lines(this.comparison, this.distances);
	}

}
