package io.tutti.engine;

import org.jspecify.annotations.Nullable;

/**
 * The group was aborted on request.
 */
public final class GroupAbortedException extends CollectiveException {

	private static final long serialVersionUID = 1L;

	GroupAbortedException(int rank, Failure failure, @Nullable Throwable cause) {
		super(rank, failure, "Start the job again when the reason is gone", cause);
	}

}
