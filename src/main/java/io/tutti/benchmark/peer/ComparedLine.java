package io.tutti.benchmark.peer;

import java.util.Map;

import io.tutti.benchmark.Measurement;

/**
 * One system's result for one collective and size.
 *
 * @param line the result of a single round; for several rounds the median, lowest and
 * highest of the rounds' medians
 * @param rounds number of rounds with this line
 * @param ratios for each peer, its time divided by this line's time; above 1 this line is
 * faster by that factor; empty for the peers' own lines
 */
public record ComparedLine(Measurement line, int rounds, Map<Peer, Double> ratios) {

	public ComparedLine {
		ratios = Map.copyOf(ratios);
	}

}
