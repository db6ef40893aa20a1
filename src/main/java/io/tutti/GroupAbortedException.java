package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * The group was aborted on request, or a rank has broken it: it could not continue a call
 * because its backend failed with an exception of no other kind, which is then the cause
 * on that rank; it closed the group during its own call or message; or it left a subgroup
 * in order while another rank still needed it there.
 */
public final class GroupAbortedException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	GroupAbortedException(int rank, int worldSize, Failure failure, Place place, @Nullable Throwable cause) {
		super(rank, worldSize, failure, place, "Start the job again when the reason is gone", cause);
	}

	/**
	 * {@link ExitCode#ABORTED} after an abort on request, unless the caller chose another
	 * code; {@link ExitCode#PEER_LOST} if another rank has broken the group. If this rank
	 * could not continue, the exit code of its backend's exception. That this rank saw a
	 * consequence of the abort first, such as a closed connection, makes no difference.
	 */
	@Override
	public int exitCode() {
		Throwable own = getCause();
		while (own instanceof GroupAbortedException) {
			own = own.getCause();
		}
		return switch (own) {
			case CollectiveException _ -> super.exitCode();
			case RuntimeException cause -> ExitCode.of(cause);
			case Error cause -> ExitCode.of(cause);
			case null, default -> super.exitCode();
		};
	}

}
