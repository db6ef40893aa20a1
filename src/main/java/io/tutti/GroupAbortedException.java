package io.tutti;

import org.jspecify.annotations.Nullable;

/**
 * The group was aborted on request.
 */
public final class GroupAbortedException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	GroupAbortedException(int rank, int worldSize, Failure failure, String where, @Nullable Throwable cause) {
		super(rank, worldSize, failure, where, "Start the job again when the reason is gone", cause);
	}

}
