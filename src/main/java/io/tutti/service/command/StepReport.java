package io.tutti.service.command;

import java.util.Locale;

import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.peer.TorchProgram;
import io.tutti.training.benchmark.StepMeasurement;

/**
 * Formats the lines of a benchmark of training steps.
 */
record StepReport(BenchmarkReport format) {

	/**
	 * The header before the lines; empty if there is none.
	 * @param transport transport of this system's ranks
	 */
	String header(String transport) {
		return switch (this.format) {
			case TABLE -> String.format(Locale.ROOT, "# %-10s %-16s %6s %12s %6s %10s %10s %12s %10s %10s %10s %8s",
					"system", "communication", "ranks", "parameters", "batch", "p50 ms", "min ms", "samples/s",
					"added ms", "added min", "reduce ms", "exposed")
					+ "\n# added: the step over that of the same system without communication, by medians and by minima;"
					+ " exposed: its part of the step\n# reduce: fastest all-reduce of as many bytes from private memory"
					+ "\n# tutti: over " + transport + "; " + TorchProgram.LABEL
					+ ": over tcp; freed memory: tutti keeps blocks of up to 32 MiB, " + TorchProgram.LABEL + " all";
			case TSV -> "system\tcommunication\tranks\tparameters\tbatch\tp50_ms\tmin_ms\tsamples_per_s\tadded_ms"
					+ "\tadded_min_ms\tall_reduce_ms\texposed\tsteps";
			case JSON -> "";
		};
	}

	String line(StepMeasurement line) {
		return switch (this.format) {
			case TABLE ->
				String.format(Locale.ROOT, "  %-10s %-16s %6d %12d %6d %10.2f %10.2f %12.0f %10.2f %10.2f %10s %8.3f",
						line.system(), line.variant(), line.ranks(), line.parameters(), line.batch(), line.p50Millis(),
						line.minMillis(), line.samplesPerSecond(), line.exposedMillis(), line.exposedMinMillis(),
						(line.allReduceMillis() > 0) ? String.format(Locale.ROOT, "%.2f", line.allReduceMillis()) : "-",
						line.exposedShare());
			case TSV -> String.format(Locale.ROOT, "%s\t%s\t%d\t%d\t%d\t%.3f\t%.3f\t%.1f\t%.3f\t%.3f\t%.3f\t%.4f\t%d",
					line.system(), line.variant(), line.ranks(), line.parameters(), line.batch(), line.p50Millis(),
					line.minMillis(), line.samplesPerSecond(), line.exposedMillis(), line.exposedMinMillis(),
					line.allReduceMillis(), line.exposedShare(), line.steps());
			case JSON -> String.format(Locale.ROOT,
					"{\"system\":\"%s\",\"communication\":\"%s\",\"ranks\":%d,\"parameters\":%d,\"batch\":%d,"
							+ "\"p50Ms\":%.3f,\"minMs\":%.3f,\"samplesPerSecond\":%.1f,\"addedMs\":%.3f,"
							+ "\"addedMinMs\":%.3f,\"allReduceMs\":%.3f,\"exposedShare\":%.4f,\"steps\":%d}",
					line.system(), line.variant(), line.ranks(), line.parameters(), line.batch(), line.p50Millis(),
					line.minMillis(), line.samplesPerSecond(), line.exposedMillis(), line.exposedMinMillis(),
					line.allReduceMillis(), line.exposedShare(), line.steps());
		};
	}

}
