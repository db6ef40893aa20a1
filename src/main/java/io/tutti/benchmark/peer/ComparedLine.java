package io.tutti.benchmark.peer;

import java.util.Map;

import io.tutti.benchmark.Measurement;

/**
 * One system's figures for one collective and size.
 *
 * @param line of the one round; of several the median of the rounds' medians, between the
 * lowest and the highest of them
 * @param rounds how many rounds had such a line
 * @param ratios by peer, its time over this line's, so that above 1 this line is the
 * faster one by that factor; empty on the peers' own lines
 */
public record ComparedLine(Measurement line, int rounds, Map<Peer, Double> ratios) {

	public ComparedLine {
		ratios = Map.copyOf(ratios);
	}

}
