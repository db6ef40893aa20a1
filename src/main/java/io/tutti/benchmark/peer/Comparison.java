package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;

/**
 * Compares the lines of several rounds and systems. At each size a peer is represented by
 * its fastest variant.
 */
public final class Comparison {

	/** Between rounds of an idle machine times differ by less. */
	private static final double SLOW_FACTOR = 2;

	private final List<Measurement> own = new ArrayList<>();

	private final Map<Peer, List<Measurement>> peers = new EnumMap<>(Peer.class);

	/** Adds a line of this system. */
	public void add(Measurement line) {
		this.own.add(line);
	}

	/** Adds lines of a peer, of any variant. */
	public void add(Peer peer, List<Measurement> lines) {
		this.peers.computeIfAbsent(peer, (_) -> new ArrayList<>()).addAll(lines);
	}

	/** This system's lines with their ratios, then the peers'. */
	public List<ComparedLine> lines() {
		Map<Peer, Map<Cell, List<ComparedLine>>> others = new EnumMap<>(Peer.class);
		this.peers.forEach((peer, lines) -> others.put(peer, variants(lines)));
		List<ComparedLine> result = new ArrayList<>();
		variants(this.own).forEach((cell, lines) -> result.add(withRatios(cell, best(lines), others)));
		others.values().forEach((cells) -> cells.values().forEach((lines) -> result.add(best(lines))));
		return result;
	}

	/**
	 * Warnings for the user: systems whose rounds differ too much for a comparison of
	 * medians.
	 */
	public List<String> notes() {
		Map<String, List<ComparedLine>> systems = lines().stream()
			.collect(Collectors.groupingBy((line) -> line.line().system(), LinkedHashMap::new, Collectors.toList()));
		List<String> notes = new ArrayList<>();
		systems.forEach((system, lines) -> {
			long varying = lines.stream().filter(Comparison::varies).count();
			if (varying > 0) {
				notes.add("in " + varying + " of " + lines.size() + " lines of " + system
						+ " the slowest round took more than twice as long as the fastest");
			}
		});
		return notes;
	}

	private static boolean varies(ComparedLine line) {
		return line.rounds() > 1 && line.line().maxMicros() > SLOW_FACTOR * line.line().minMicros();
	}

	/**
	 * A failed round of a peer or of its fastest variant, and wrong results of our own,
	 * make no comparison.
	 */
	private static ComparedLine withRatios(Cell cell, ComparedLine own,
			Map<Peer, Map<Cell, List<ComparedLine>>> others) {
		Map<Peer, ComparedLine.Ratio> ratios = new EnumMap<>(Peer.class);
		others.forEach((peer, cells) -> {
			List<ComparedLine> variants = cells.getOrDefault(cell, List.of());
			if (own.line().wrong() == 0 && !variants.isEmpty() && best(variants).rounds() == own.rounds()
					&& lowestMedian(variants) == best(variants).line().p50Micros()) {
				double fastest = variants.stream().mapToDouble(Comparison::fastestRound).min().orElseThrow();
				ratios.put(peer, new ComparedLine.Ratio(lowestMedian(variants) / own.line().p50Micros(),
						fastest / fastestRound(own)));
			}
		});
		return new ComparedLine(own.line(), own.rounds(), ratios);
	}

	/** The lowest median of all variants. */
	private static double lowestMedian(List<ComparedLine> variants) {
		return variants.stream().mapToDouble((line) -> line.line().p50Micros()).min().orElseThrow();
	}

	/** The median of the fastest round. */
	private static double fastestRound(ComparedLine line) {
		return (line.rounds() == 1) ? line.line().p50Micros() : line.line().minMicros();
	}

	/** The variants of each cell, each over all rounds. */
	private static Map<Cell, List<ComparedLine>> variants(List<Measurement> lines) {
		Map<Cell, Map<String, List<Measurement>>> cells = new LinkedHashMap<>();
		for (Measurement line : lines) {
			cells.computeIfAbsent(Cell.of(line), (_) -> new LinkedHashMap<>())
				.computeIfAbsent(line.transport(), (_) -> new ArrayList<>())
				.add(line);
		}
		Map<Cell, List<ComparedLine>> variants = new LinkedHashMap<>();
		cells.forEach((cell, rounds) -> variants.put(cell, rounds.values().stream().map(Comparison::median).toList()));
		return variants;
	}

	/**
	 * The variant with the lowest median. Fewer rounds are no comparison: the variant has
	 * failed in the others.
	 */
	private static ComparedLine best(List<ComparedLine> variants) {
		return variants.stream()
			.min(Comparator.comparingInt(ComparedLine::rounds)
				.reversed()
				.thenComparingDouble((line) -> line.line().p50Micros()))
			.orElseThrow();
	}

	private static ComparedLine median(List<Measurement> rounds) {
		Measurement first = rounds.getFirst();
		if (rounds.size() == 1) {
			return new ComparedLine(first, 1, Map.of());
		}
		double[] sorted = rounds.stream().mapToDouble(Measurement::p50Micros).sorted().toArray();
		double median = (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
		int samples = rounds.stream().mapToInt(Measurement::samples).sum();
		long wrong = rounds.stream().mapToLong(Measurement::wrong).sum();
		return new ComparedLine(
				new Measurement(first.system(), first.transport(), first.operation(), first.ranks(), first.bytes(),
						first.count(), median, sorted[0], sorted[sorted.length - 1], samples, wrong),
				rounds.size(), Map.of());
	}

	/** Lines with the same operation and size are compared. */
	private record Cell(Operation operation, long bytes) {

		static Cell of(Measurement line) {
			return new Cell(line.operation(), line.bytes());
		}

	}

}
