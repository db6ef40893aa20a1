package io.tutti.engine.p2p;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Matches messages with receives and probes by source and tag, each in order of arrival.
 */
final class MatchingEngine {

	/** In the order they were posted. */
	private final List<MessageOperation> receives = new ArrayList<>();

	/** Probes that wait for a message. */
	private final List<MessageOperation> probes = new ArrayList<>();

	/** Chain of unexpected messages in order of arrival: there may be many. */
	private @Nullable UnexpectedMessage first;

	private @Nullable UnexpectedMessage last;

	/** Removes the first receive that matches a message. */
	@Nullable MessageOperation receiveFor(int source, int tag) {
		return removeFirst(this.receives, source, tag);
	}

	/** Removes the first probe that matches a message. */
	@Nullable MessageOperation probeFor(int source, int tag) {
		return removeFirst(this.probes, source, tag);
	}

	private static @Nullable MessageOperation removeFirst(List<MessageOperation> posted, int source, int tag) {
		for (int i = 0; i < posted.size(); i++) {
			if (posted.get(i).accepts(source, tag)) {
				return posted.remove(i);
			}
		}
		return null;
	}

	/** The first unexpected message from a rank, or any, with a tag, or any. It stays. */
	@Nullable UnexpectedMessage peek(int source, int tag) {
		UnexpectedMessage message = this.first;
		while (message != null && !MessageOperation.matches(source, tag, message.source, message.tag)) {
			message = message.next;
		}
		return message;
	}

	/** Removes a receive or probe; {@code false} if it was matched. */
	boolean remove(MessageOperation operation) {
		return postedLike(operation).remove(operation);
	}

	/** Removes the message of a send to this rank itself, if it was not matched. */
	@Nullable UnexpectedMessage removeOwn(MessageOperation send) {
		return remove((message) -> message.own == send);
	}

	/** Removes an announced message, if it was not matched. */
	@Nullable UnexpectedMessage removeAnnounced(int source, long id) {
		return remove((message) -> message.announced && message.source == source && message.id == id);
	}

	private @Nullable UnexpectedMessage remove(Predicate<UnexpectedMessage> condition) {
		UnexpectedMessage before = null;
		for (UnexpectedMessage message = this.first; message != null; message = message.next) {
			if (condition.test(message)) {
				unlink(message, before);
				return message;
			}
			before = message;
		}
		return null;
	}

	/** Removes the first unexpected message that matches a receive. */
	@Nullable UnexpectedMessage messageFor(MessageOperation receive) {
		UnexpectedMessage before = null;
		for (UnexpectedMessage message = this.first; message != null; message = message.next) {
			if (receive.accepts(message.source, message.tag)) {
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

	/** Queues a receive or probe whose message has not arrived. */
	void add(MessageOperation operation) {
		postedLike(operation).add(operation);
	}

	private List<MessageOperation> postedLike(MessageOperation operation) {
		return (operation.kind == MessageOperation.Kind.PROBE) ? this.probes : this.receives;
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
		this.probes.clear();
		this.first = null;
		this.last = null;
	}

}
