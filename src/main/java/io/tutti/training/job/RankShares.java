package io.tutti.training.job;

import java.util.ArrayList;
import java.util.List;

import io.tutti.training.RankWeights;
import org.jspecify.annotations.Nullable;

/**
 * How a job divides each global batch among the ranks. The gradient is that of the whole
 * batch, so that other shares give the same parameters up to rounding, unless the model
 * has layers whose result depends on a rank's share, such as dropout and batch
 * normalization. Measured shares differ from run to run, and so do the last bits.
 *
 * @param measured whether the shares follow the speeds that the ranks measure in their
 * first steps
 * @param weights configured weights by rank, {@code null} for equal or measured shares
 */
public record RankShares(boolean measured, @Nullable RankWeights weights) {

	/** Equal shares. */
	public static final RankShares EQUAL = new RankShares(false, null);

	/** Shares in proportion to the ranks' speeds. */
	public static final RankShares MEASURED = new RankShares(true, null);

	private static final String MEASURED_NAME = "measured";

	/** Checks the values. */
	public RankShares {
		if (measured && weights != null) {
			throw new IllegalArgumentException("shares are either measured or configured");
		}
	}

	/**
	 * Parses {@code measured} or weights by rank such as {@code 1,2,2}.
	 * @param text {@code measured}, or the weights separated by commas
	 * @return the shares
	 * @throws IllegalArgumentException if the text is neither
	 */
	public static RankShares parse(String text) {
		if (text.equals(MEASURED_NAME)) {
			return MEASURED;
		}
		List<Double> weights = new ArrayList<>();
		try {
			for (String weight : text.split(",", -1)) {
				weights.add(Double.valueOf(weight.strip()));
			}
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException(
					"rank weights must be measured, or one number per rank such as 1,2,2, got " + text, ex);
		}
		return new RankShares(false, new RankWeights(weights));
	}

	/**
	 * Checks that there is a weight for each rank.
	 * @param worldSize number of ranks
	 * @throws IllegalArgumentException if not
	 */
	public void requireWorldSize(int worldSize) {
		if (this.weights != null && this.weights.weights().size() != worldSize) {
			throw new IllegalArgumentException("rank weights must be one number per rank: got "
					+ this.weights.weights().size() + " for " + worldSize + " ranks");
		}
	}

	@Override
	public String toString() {
		return (this.weights != null) ? this.weights.weights().toString() : this.measured ? MEASURED_NAME : "equal";
	}

}
