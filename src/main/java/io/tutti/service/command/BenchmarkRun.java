package io.tutti.service.command;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.ProcessGroup;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BenchmarkReport;
import io.tutti.benchmark.CollectiveBenchmark;
import io.tutti.benchmark.CoreBinding;
import io.tutti.benchmark.CoreDistance;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.TimingNoise;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.context.ApplicationContext;

/**
 * Runs a benchmark: waits for the group to form, measures, and prints on rank 0.
 */
final class BenchmarkRun {

	private final GroupLifecycle group;

	private final BenchmarkOptions options;

	private final BenchmarkReport report;

	private final CoreBinding binding;

	private final TimingNoise disturbance = new TimingNoise();

	private final WrongResults wrong = new WrongResults();

	BenchmarkRun(ApplicationContext context, BenchmarkOptions options, BenchmarkReport report, BindTo bindTo) {
		this.group = context.getBean(GroupLifecycle.class);
		this.options = options;
		this.report = report;
		this.binding = bindTo.binding(this.group.assignment());
	}

	/** Measures and returns the exit code. Wrong results count as an internal error. */
	int run() throws Exception {
		ProcessGroup world = this.group.formed().get().world();
		boolean prints = world.rank() == 0;
		if (prints && !this.report.header().isEmpty()) {
			System.out.println(this.report.header());
		}
		if (prints && this.report == BenchmarkReport.TABLE) {
			CoreDistance.measure()
				.ifPresent((nanos) -> System.out
					.println(String.format(Locale.ROOT, "# a cache line takes %.0f ns between two cores", nanos)));
		}
		CollectiveBenchmark benchmark = new CollectiveBenchmark(world, this.options, this.binding);
		benchmark.run((line) -> show(line, prints, System.out));
		if (prints) {
			Stream.of(this.disturbance.note(), benchmark.note(), this.wrong.note())
				.filter(Objects::nonNull)
				.forEach((note) -> System.err.println("tutti: " + note));
		}
		return this.wrong.exitCode();
	}

	private void show(Measurement line, boolean prints, PrintStream out) {
		this.wrong.take(line);
		this.disturbance.take(line);
		if (prints) {
			out.println(this.report.line(line));
		}
	}

}
