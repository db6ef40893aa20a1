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
	 * The place of a call, such as {@code rank 1 of group world: all-reduce: }. The rank
	 * is that in the group, as the ranks in the arguments are.
	 * @param call what was called
	 */
	public static String place(GroupIdentity identity, String call) {
		return place(identity.rank(), identity.name(), call);
	}

	/**
	 * The place of a call.
	 * @param rank rank in the group
	 * @param group name of the group
	 * @param call what was called
	 */
	public static String place(int rank, String group, String call) {
		return "rank " + rank + " of group " + group + ": " + call + ": ";
	}

	/**
	 * The same exception, thrown at the same line, with the place of the call in its
	 * message. An exception of another kind, or one that has its place already, is
	 * returned as it is.
	 * @param call what was called
	 * @param refusal thrown by a check of an argument
	 */
	public static RuntimeException at(GroupIdentity identity, String call, RuntimeException refusal) {
		return at(place(identity, call), refusal);
	}

	/**
	 * The same exception with a {@link #place place} in its message.
	 * @param refusal thrown by a check of an argument
	 */
	public static RuntimeException at(String place, RuntimeException refusal) {
		if (refusal instanceof Failure.Origin) {
			return refusal;
		}
		String message = place + refusal.getMessage();
		RuntimeException placed = switch (refusal) {
			case RankOutOfRangeException ex -> ex.at(place);
			case IllegalArgumentException ex -> new IllegalArgumentException(message, ex.getCause());
			case NullPointerException _ -> new NullPointerException(message);
			case UnsupportedOperationException ex -> new UnsupportedOperationException(message, ex.getCause());
			default -> refusal;
		};
		placed.setStackTrace(refusal.getStackTrace());
		return placed;
	}

}
