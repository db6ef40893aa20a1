package io.tutti.engine.spi;

import java.util.List;
import java.util.function.IntToLongFunction;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Ranks passed different arguments to a call that compares them before it does anything,
 * such as {@code allocate}. Thrown on every rank; the group stays usable.
 */
public final class ArgumentMismatchException extends IllegalArgumentException
		implements CallOrigin.Holder, ExitCode.Source {

	private static final long serialVersionUID = 1L;

	private final CallOrigin origin;

	/**
	 * @param origin names the ranks that differ
	 * @param problem what differs, with no full stop
	 */
	public ArgumentMismatchException(CallOrigin origin, String problem) {
		super(origin.start() + problem);
		this.origin = origin;
	}

	/**
	 * Checks that every rank passed the same value. Every rank checks the same values, so
	 * either all ranks throw or none does.
	 * @param sequence number of the all-gather by which they compare the values
	 * @param byRank a rank's value
	 * @param rule what must be the same, with no full stop
	 * @param difference what differs, {@code null} to name the values
	 */
	public static void requireSame(GroupIdentity identity, long sequence, IntToLongFunction byRank, String rule,
			@Nullable String difference) {
		long first = byRank.applyAsLong(0);
		for (int rank = 1; rank < identity.worldSize(); rank++) {
			long other = byRank.applyAsLong(rank);
			if (other != first) {
				List<Integer> others = Stream.of(0, rank).filter((one) -> one != identity.rank()).toList();
				int zero = identity.members().getFirst();
				int differing = identity.members().get(rank);
				String values = "rank " + zero + " passed " + first + ", rank " + differing + " " + other;
				throw new ArgumentMismatchException(
						CallOrigin.about(identity, others).of(Collective.ALL_GATHER, sequence), rule + ": ranks " + zero
								+ " and " + differing + " disagree: " + ((difference != null) ? difference : values));
			}
		}
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

	@Override
	public int exitCode() {
		return ExitCode.MISMATCH;
	}

}
