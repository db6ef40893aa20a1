package io.tutti.engine.p2p;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Matches messages with receives by source and tag, each in order of arrival.
 */
final class MatchingEngine {

	/** In the order they were posted. */
	private final List<MessageOperation> receives = new ArrayList<>();

	/** Chain of unexpected messages in order of arrival: there may be many. */
	private @Nullable UnexpectedMessage first;

	private @Nullable UnexpectedMessage last;

	/** Removes the first receive that matches a message. */
	@Nullable MessageOperation receiveFor(int source, int tag) {
		for (int i = 0; i < this.receives.size(); i++) {
			if (this.receives.get(i).takes(source, tag)) {
				return this.receives.remove(i);
			}
		}
		return null;
	}

	/** Removes the first unexpected message that matches a receive. */
	@Nullable UnexpectedMessage messageFor(MessageOperation receive) {
		UnexpectedMessage before = null;
		for (UnexpectedMessage message = this.first; message != null; message = message.next) {
			if (receive.takes(message.source, message.tag)) {
				unlink(message, before);
				return message;
			}
			before = message;
		}
		return null;
	}

	private void unlink(UnexpectedMessage message, @Nullable UnexpectedMessage before) {
		if (before == null) {
			this.first = message.next;
		}
		else {
			before.next = message.next;
		}
		if (message == this.last) {
			this.last = before;
		}
		message.next = null;
	}

	/** Queues a receive whose message has not arrived. */
	void add(MessageOperation receive) {
		this.receives.add(receive);
	}

	/** Queues a message whose receive is not posted. */
	void add(UnexpectedMessage message) {
		UnexpectedMessage before = this.last;
		if (before == null) {
			this.first = message;
		}
		else {
			before.next = message;
		}
		this.last = message;
	}

	void clear() {
		this.receives.clear();
		this.first = null;
		this.last = null;
	}

}
