package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.CoreDistances;
import io.tutti.benchmark.Measurement;

/**
 * Formats a comparison like the benchmark's own lines, with the system's name, the number
 * of rounds and two ratios for each peer.
 */
public final class ComparisonReport {

	/** A ratio's two columns of the table without one. */
	private static final String NO_RATIO = "           -        -";

	private final BenchmarkReport format;

	private final List<Peer> peers;

	/**
	 * A report.
	 * @param format output format
	 * @param peers peers with a ratio column, in order
	 */
	public ComparisonReport(BenchmarkReport format, List<Peer> peers) {
		this.format = format;
		this.peers = List.copyOf(peers);
	}

	/** The whole report, line by line. */
	public List<String> lines(Comparison comparison, CoreDistances distances) {
		List<String> lines = new ArrayList<>(header());
		if (this.format == BenchmarkReport.TABLE && !distances.text().isEmpty()) {
			lines.add("# ns of a cache line between two cores, before and after each run: " + distances.text());
		}
		comparison.lines().stream().map((line) -> line(line, distances)).forEach(lines::add);
		return lines;
	}

	private List<String> header() {
		return switch (this.format) {
			case TABLE -> List.of(String.format(Locale.ROOT,
					"# %-14s %-16s %-14s %6s %12s %10s %10s %10s %8s %8s %7s %6s", "system", "transport", "collective",
					"ranks", "bytes", "p50 µs", "min µs", "max µs", "algbw", "busbw", "#wrong", "rounds")
					+ columns((peer) -> String.format(Locale.ROOT, "%12s %8s", "vs " + peer.label(), "fastest")),
					"# algbw and busbw in GB/s (10^9 bytes); times are the slowest rank's, over several rounds the median"
							+ " of their p50 with the lowest and the highest",
					"# vs: the peer's p50 over ours, above 1 we are faster; the fastest variant of a peer at each size;"
							+ " fastest: the same of the fastest rounds of all variants; -: the peer or a faster variant has fewer rounds, or no line, or our results were wrong");
			case TSV -> List.of(this.format.header() + "\trounds"
					+ columns((peer) -> "\tvs_" + peer.label() + "\tfastest_vs_" + peer.label()));
			case JSON -> List.of();
		};
	}

	private String line(ComparedLine compared, CoreDistances distances) {
		Measurement line = compared.line();
		return switch (this.format) {
			case TABLE -> String.format(Locale.ROOT,
					"  %-14s %-16s %-14s %6d %12d %10.2f %10.2f %10.2f %8.2f %8.2f %7d %6d", line.system(),
					line.transport(), line.operation(), line.ranks(), line.bytes(), line.p50Micros(), line.minMicros(),
					line.maxMicros(), line.algorithmBandwidth(), line.busBandwidth(), line.wrong(), compared.rounds())
					+ columns((peer) -> ratio(compared, peer, "%12.2f %8.2f", NO_RATIO));
			case TSV -> this.format.line(line) + "\t" + compared.rounds()
					+ columns((peer) -> ratio(compared, peer, "\t%.4g\t%.4g", "\t\t"));
			case JSON -> {
				String object = this.format.line(line);
				yield object.substring(0, object.length() - 1) + ",\"rounds\":" + compared.rounds() + ",\"vs\":{"
						+ ratios(compared, ComparedLine.Ratio::median) + "},\"fastestVs\":{"
						+ ratios(compared, ComparedLine.Ratio::fastest) + "},\"coreNanos\":{" + distances.json() + "}}";
			}
		};
	}

	private String ratios(ComparedLine compared, ToDoubleFunction<ComparedLine.Ratio> value) {
		return this.peers.stream()
			.filter(compared.ratios()::containsKey)
			.map((peer) -> String.format(Locale.ROOT, "\"%s\":%.4g", peer.label(),
					value.applyAsDouble(compared.ratios().get(peer))))
			.collect(Collectors.joining(","));
	}

	private static String ratio(ComparedLine compared, Peer peer, String format, String none) {
		ComparedLine.Ratio ratio = compared.ratios().get(peer);
		return (ratio != null) ? String.format(Locale.ROOT, format, ratio.median(), ratio.fastest()) : none;
	}

	private String columns(Function<Peer, String> column) {
		return this.peers.stream().map(column).collect(Collectors.joining());
	}

}
