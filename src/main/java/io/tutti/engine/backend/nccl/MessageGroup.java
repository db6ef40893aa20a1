package io.tutti.engine.backend.nccl;

import java.util.ArrayList;
import java.util.List;

/**
 * Calls that NCCL carries out together. The group is closed whatever happens in it, since
 * it belongs to the thread; the first error is the answer.
 */
final class MessageGroup implements Communicator.Issue {

	private final List<Communicator.Issue> calls = new ArrayList<>();

	void add(Communicator.Issue call) {
		this.calls.add(call);
	}

	@Override
	public int on(Nccl nccl, long communicator) {
		int answer = nccl.groupStart();
		if (answer != NcclResult.SUCCESS.ordinal()) {
			return answer;
		}
		int first = NcclResult.SUCCESS.ordinal();
		for (Communicator.Issue call : this.calls) {
			if (isWell(first)) {
				first = call.on(nccl, communicator);
			}
		}
		int end = nccl.groupEnd();
		return isWell(first) ? end : first;
	}

	/** Inside a group a call in progress is as good as queued. */
	private static boolean isWell(int code) {
		return code == NcclResult.SUCCESS.ordinal() || code == NcclResult.IN_PROGRESS.ordinal();
	}

}
