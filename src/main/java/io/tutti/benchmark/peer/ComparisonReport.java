package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.Measurement;

/**
 * Formats a comparison like the benchmark's own lines, with the system's name and a ratio
 * for each peer.
 */
public final class ComparisonReport {

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
	public List<String> lines(Comparison comparison) {
		List<String> lines = new ArrayList<>(header());
		comparison.lines().stream().map(this::line).forEach(lines::add);
		return lines;
	}

	private List<String> header() {
		return switch (this.format) {
			case TABLE -> List.of(
					String.format(Locale.ROOT, "# %-14s %-16s %-14s %6s %12s %10s %10s %10s %8s %8s %7s", "system",
							"transport", "collective", "ranks", "bytes", "p50 µs", "min µs", "max µs", "algbw", "busbw",
							"#wrong") + columns((peer) -> String.format(Locale.ROOT, "%12s", "vs " + peer.label())),
					"# algbw and busbw in GB/s (10^9 bytes); times are the slowest rank's, over several rounds the median"
							+ " of their p50 with the lowest and the highest",
					"# vs: the peer's p50 over ours, above 1 we are faster; the fastest variant of a peer at each size");
			case TSV -> List.of(this.format.header() + columns((peer) -> "\tvs_" + peer.label()));
			case JSON -> List.of();
		};
	}

	private String line(ComparedLine compared) {
		Measurement line = compared.line();
		return switch (this.format) {
			case TABLE -> String.format(Locale.ROOT,
					"  %-14s %-16s %-14s %6d %12d %10.2f %10.2f %10.2f %8.2f %8.2f %7d", line.system(),
					line.transport(), line.operation(), line.ranks(), line.bytes(), line.p50Micros(), line.minMicros(),
					line.maxMicros(), line.algorithmBandwidth(), line.busBandwidth(), line.wrong())
					+ columns((peer) -> String.format(Locale.ROOT, "%12s", ratio(compared, peer, "%.2f", "-")));
			case TSV -> this.format.line(line) + columns((peer) -> "\t" + ratio(compared, peer, "%.4f", ""));
			case JSON -> {
				String object = this.format.line(line);
				yield object.substring(0, object.length() - 1) + ",\"rounds\":" + compared.rounds() + ",\"vs\":{"
						+ this.peers.stream()
							.filter(compared.ratios()::containsKey)
							.map((peer) -> "\"" + peer.label() + "\":" + ratio(compared, peer, "%.4f", ""))
							.collect(Collectors.joining(","))
						+ "}}";
			}
		};
	}

	private static String ratio(ComparedLine compared, Peer peer, String format, String none) {
		Double ratio = compared.ratios().get(peer);
		return (ratio != null) ? String.format(Locale.ROOT, format, ratio) : none;
	}

	private String columns(java.util.function.Function<Peer, String> column) {
		return this.peers.stream().map(column).collect(Collectors.joining());
	}

}
