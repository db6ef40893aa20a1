package io.tutti.engine.p2p;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.tutti.engine.p2p.MessageOperation.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Matches messages with receives and probes by source and tag, each in order of arrival.
 */
final class MatchingEngine {

	/**
	 * Receives and probes whose message has not arrived, in the order they were posted.
	 */
	private final List<MessageOperation> posted = new ArrayList<>();

	/** Chain of unexpected messages in order of arrival: there may be many. */
	private @Nullable IncomingMessage first;

	private @Nullable IncomingMessage last;

	/** Removes the first receive or probe that matches a message. */
	@Nullable MessageOperation take(Kind kind, int source, int tag) {
		for (int i = 0; i < this.posted.size(); i++) {
			MessageOperation operation = this.posted.get(i);
			if (operation.kind == kind && MessageOperation.matches(operation.peer, operation.tag, source, tag)) {
				return this.posted.remove(i);
			}
		}
		return null;
	}

	/** The first unexpected message that matches a receive or probe. It stays. */
	@Nullable IncomingMessage peek(int source, int tag) {
		IncomingMessage message = this.first;
		while (message != null && !MessageOperation.matches(source, tag, message.source, message.tag)) {
			message = message.next;
		}
		return message;
	}

	/** Removes the first unexpected message that matches a receive. */
	@Nullable IncomingMessage messageFor(MessageOperation receive) {
		return removed(peek(receive.peer, receive.tag));
	}

	/** Removes the message of a send to this rank itself, if it was not matched. */
	@Nullable IncomingMessage removeOwn(MessageOperation send) {
		return remove((message) -> message.own == send);
	}

	/** Removes an announced message, if it was not matched. */
	@Nullable IncomingMessage removeAnnounced(int source, long id) {
		return remove((message) -> message.announced && message.source == source && message.id == id);
	}

	private @Nullable IncomingMessage remove(Predicate<IncomingMessage> condition) {
		IncomingMessage message = this.first;
		while (message != null && !condition.test(message)) {
			message = message.next;
		}
		return removed(message);
	}

	private @Nullable IncomingMessage removed(@Nullable IncomingMessage message) {
		if (message != null) {
			link(message.previous, message.next);
			message.previous = null;
			message.next = null;
		}
		return message;
	}

	private void link(@Nullable IncomingMessage before, @Nullable IncomingMessage after) {
		if (before != null) {
			before.next = after;
		}
		else {
			this.first = after;
		}
		if (after != null) {
			after.previous = before;
		}
		else {
			this.last = before;
		}
	}

	/** Removes a receive or probe; {@code false} if it was matched. */
	boolean remove(MessageOperation operation) {
		return this.posted.remove(operation);
	}

	/** Queues a receive or probe whose message has not arrived. */
	void add(MessageOperation operation) {
		this.posted.add(operation);
	}

	/** Queues a message whose receive is not posted. */
	void add(IncomingMessage message) {
		link(this.last, message);
		link(message, null);
	}

	void clear() {
		this.posted.clear();
		this.first = null;
		this.last = null;
	}

}
