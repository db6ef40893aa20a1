package io.tutti.benchmark.peer;

import java.util.Map;

import io.tutti.benchmark.Measurement;

/**
 * One system's result for one collective and size.
 *
 * @param line the result of a single round; for several rounds the median, lowest and
 * highest of the rounds' medians
 * @param rounds number of rounds with this line
 * @param ratios for each peer whose fastest variant has as many rounds, its time divided
 * by this line's time; empty for the peers' own lines, and if elements of this line were
 * wrong
 */
public record ComparedLine(Measurement line, int rounds, Map<Peer, Ratio> ratios) {

	public ComparedLine {
		ratios = Map.copyOf(ratios);
	}

	/**
	 * A peer's time divided by this system's; above 1 this system is faster by that
	 * factor.
	 *
	 * @param median ratio of the medians, of the peer's fastest variant
	 * @param fastest ratio of the fastest rounds, of all variants
	 */
	public record Ratio(double median, double fastest) {

	}

}
