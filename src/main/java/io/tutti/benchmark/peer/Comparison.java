package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Compares the lines of several rounds and systems. At each size a peer is represented by
 * its fastest variant.
 */
public final class Comparison {

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
		Map<Peer, Map<Cell, ComparedLine>> best = new EnumMap<>(Peer.class);
		this.peers.forEach((peer, lines) -> best.put(peer, best(lines)));
		List<ComparedLine> result = new ArrayList<>();
		best(this.own).forEach((cell, line) -> result.add(withRatios(cell, line, best)));
		best.values().forEach((cells) -> result.addAll(cells.values()));
		return result;
	}

	private static ComparedLine withRatios(Cell cell, ComparedLine own, Map<Peer, Map<Cell, ComparedLine>> best) {
		Map<Peer, Double> ratios = new EnumMap<>(Peer.class);
		best.forEach((peer, cells) -> {
			ComparedLine other = cells.get(cell);
			if (other != null) {
				ratios.put(peer, other.line().p50Micros() / own.line().p50Micros());
			}
		});
		return new ComparedLine(own.line(), own.rounds(), ratios);
	}

	/** For each cell the fastest variant. */
	private static Map<Cell, ComparedLine> best(List<Measurement> lines) {
		Map<Cell, Map<String, List<Measurement>>> cells = new LinkedHashMap<>();
		for (Measurement line : lines) {
			cells.computeIfAbsent(Cell.of(line), (_) -> new LinkedHashMap<>())
				.computeIfAbsent(line.transport(), (_) -> new ArrayList<>())
				.add(line);
		}
		Map<Cell, ComparedLine> best = new LinkedHashMap<>();
		cells.forEach((cell, variants) -> best.put(cell, fastest(variants)));
		return best;
	}

	/**
	 * The variant with the lowest median. Fewer rounds are no comparison: the variant has
	 * failed in the others.
	 */
	private static ComparedLine fastest(Map<String, List<Measurement>> variants) {
		@Nullable ComparedLine fastest = variants.values()
			.stream()
			.map(Comparison::median)
			.min(Comparator.comparingInt(ComparedLine::rounds)
				.reversed()
				.thenComparingDouble((line) -> line.line().p50Micros()))
			.orElse(null);
		return Objects.requireNonNull(fastest);
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
