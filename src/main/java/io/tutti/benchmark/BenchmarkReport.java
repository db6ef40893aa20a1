package io.tutti.benchmark;

import java.util.Locale;

/**
 * Output format of a benchmark.
 */
public enum BenchmarkReport {

	/** Aligned columns for reading. */
	TABLE {
		@Override
		public String header() {
			return String.format(Locale.ROOT, "# %-14s %6s %12s %12s %10s %10s %10s %8s %8s %7s%n", "collective",
					"ranks", "bytes", "count", "p50 µs", "min µs", "max µs", "algbw", "busbw", "#wrong")
					+ "# algbw and busbw in GB/s (10^9 bytes); times are the slowest rank's";
		}

		@Override
		public String line(Measurement line) {
			return String.format(Locale.ROOT, "  %-14s %6d %12d %12d %10.2f %10.2f %10.2f %8.2f %8.2f %7d",
					line.operation(), line.ranks(), line.bytes(), line.count(), line.p50Micros(), line.minMicros(),
					line.maxMicros(), line.algorithmBandwidth(), line.busBandwidth(), line.wrong());
		}
	},

	/** Tab-separated values, one measurement per line. */
	TSV {
		@Override
		public String header() {
			return "system\ttransport\top\tranks\tbytes\tp50_us\tmin_us\tmax_us\talgbw_GBps\truns\twrong";
		}

		@Override
		public String line(Measurement line) {
			return String.format(Locale.ROOT, "%s\t%s\t%s\t%d\t%d\t%.3f\t%.3f\t%.3f\t%.4f\t%d\t%d", line.system(),
					line.transport(), line.operation().tableName(), line.ranks(), line.bytes(), line.p50Micros(),
					line.minMicros(), line.maxMicros(), line.algorithmBandwidth(), line.samples(), line.wrong());
		}
	},

	/** One JSON object per line. */
	JSON {
		@Override
		public String header() {
			return "";
		}

		@Override
		public String line(Measurement line) {
			return String.format(Locale.ROOT,
					"{\"system\":\"%s\",\"transport\":\"%s\",\"op\":\"%s\",\"ranks\":%d,\"bytes\":%d,\"count\":%d,"
							+ "\"p50Us\":%.3f,\"minUs\":%.3f,\"maxUs\":%.3f,\"algbwGBps\":%.4f,\"busbwGBps\":%.4f,"
							+ "\"samples\":%d,\"wrong\":%d}",
					line.system(), line.transport(), line.operation().tableName(), line.ranks(), line.bytes(),
					line.count(), line.p50Micros(), line.minMicros(), line.maxMicros(), line.algorithmBandwidth(),
					line.busBandwidth(), line.samples(), line.wrong());
		}
	};

	/** The header before the lines; empty if there is none. */
	public abstract String header();

	/** One formatted line, without a line break. */
	public abstract String line(Measurement line);

}
