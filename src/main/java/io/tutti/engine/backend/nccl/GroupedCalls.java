package io.tutti.engine.backend.nccl;

import java.util.ArrayList;
import java.util.List;

/**
 * Calls between {@code ncclGroupStart} and {@code ncclGroupEnd}. The group is always
 * ended, since it is thread state; the result is the first error.
 */
final class GroupedCalls implements NcclCommunicator.Issue {

	private final List<NcclCommunicator.Issue> calls = new ArrayList<>();

	void add(NcclCommunicator.Issue call) {
		this.calls.add(call);
	}

	@Override
	public int on(Nccl nccl, long communicator) {
		int started = nccl.groupStart();
		if (started != NcclResult.SUCCESS.ordinal()) {
			return started;
		}
		int first = NcclResult.SUCCESS.ordinal();
		int ended;
		try {
			for (NcclCommunicator.Issue call : this.calls) {
				if (isQueued(first)) {
					first = call.on(nccl, communicator);
				}
			}
		}
		finally {
			ended = nccl.groupEnd();
		}
		return isQueued(first) ? ended : first;
	}

	/** Inside a group a call in progress counts as queued. */
	private static boolean isQueued(int code) {
		return code == NcclResult.SUCCESS.ordinal() || code == NcclResult.IN_PROGRESS.ordinal();
	}

}
