package io.tutti.benchmark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain CoreDistance distances of the cores} before and after each run of a
 * comparison.
 */
public final class CoreDistances {

	/**
	 * Between cores of one complex the values of an idle machine differ by less; to
	 * another complex they are three times as large.
	 */
	private static final double MOVED_FACTOR = 2;

	private final List<Run> runs = new ArrayList<>();

	/**
	 * Adds a run of a system.
	 * @param before nanoseconds before the run; the run is left out if empty
	 * @param after nanoseconds after it; the run is left out if empty
	 */
	public void add(String system, OptionalDouble before, OptionalDouble after) {
		if (before.isPresent() && after.isPresent()) {
			this.runs.add(new Run(system, before.getAsDouble(), after.getAsDouble()));
		}
	}

	/** Such as {@code tutti 41-42 41-120, gloo 42-41}; empty without a run. */
	public String text() {
		return join("%s %s", " ", (run) -> String.format(Locale.ROOT, "%.0f-%.0f", run.before, run.after), ", ");
	}

	/** Members of a JSON object: for each system an array of its runs. */
	public String json() {
		return join("\"%s\":[%s]", ",", (run) -> String.format(Locale.ROOT, "[%.1f,%.1f]", run.before, run.after), ",");
	}

	private String join(String format, String delimiter, Function<Run, String> text, String systemDelimiter) {
		Map<String, String> systems = this.runs.stream()
			.collect(Collectors.groupingBy(Run::system, LinkedHashMap::new,
					Collectors.mapping(text, Collectors.joining(delimiter))));
		return systems.entrySet()
			.stream()
			.map((system) -> String.format(Locale.ROOT, format, system.getKey(), system.getValue()))
			.collect(Collectors.joining(systemDelimiter));
	}

	/** A warning for the user, {@code null} if the cores stayed where they were. */
	public @Nullable String note() {
		double lowest = values().min().orElse(0);
		double highest = values().max().orElse(0);
		if (highest <= MOVED_FACTOR * lowest) {
			return null;
		}
		double limit = Math.sqrt(lowest * highest);
		long far = this.runs.stream().filter((run) -> Math.max(run.before, run.after) > limit).count();
		return String.format(Locale.ROOT,
				"a cache line took %.0f to %.0f ns between the cores: processors moved between core complexes, and were"
						+ " far from each other in %d of %d runs; compare runs without --interleave of one state",
				lowest, highest, far, this.runs.size());
	}

	private DoubleStream values() {
		return this.runs.stream().flatMapToDouble((run) -> DoubleStream.of(run.before, run.after));
	}

	private record Run(String system, double before, double after) {

	}

}
