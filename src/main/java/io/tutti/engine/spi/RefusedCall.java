package io.tutti.engine.spi;

import io.tutti.Failure;
import io.tutti.RankOutOfRangeException;

/**
 * Adds the place of a call to the exception for one of its arguments. Checks know the
 * argument only; the message also has to name the rank, its group and the call.
 */
public final class RefusedCall {

	private RefusedCall() {
	}

	/**
	 * The place of a call, such as {@code rank 1 of group world: all-reduce: }.
	 * @param call what was called
	 */
	public static String place(GroupIdentity identity, String call) {
		return "rank " + identity.rank() + " of group " + identity.name() + ": " + call + ": ";
	}

	/**
	 * The same exception, thrown at the same line, with the place of the call in its
	 * message. An exception of another kind, or one that has its place already, is
	 * returned as it is.
	 * @param call what was called
	 * @param refusal thrown by a check of an argument
	 */
	public static RuntimeException at(GroupIdentity identity, String call, RuntimeException refusal) {
		if (refusal instanceof Failure.Origin) {
			return refusal;
		}
		String message = place(identity, call) + refusal.getMessage();
		RuntimeException placed = switch (refusal) {
			case RankOutOfRangeException ex -> ex.at(place(identity, call));
			case IllegalArgumentException ex -> new IllegalArgumentException(message, ex.getCause());
			case NullPointerException _ -> new NullPointerException(message);
			case UnsupportedOperationException ex -> new UnsupportedOperationException(message, ex.getCause());
			default -> refusal;
		};
		placed.setStackTrace(refusal.getStackTrace());
		return placed;
	}

}
