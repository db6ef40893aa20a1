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
	private @Nullable UnexpectedMessage first;

	private @Nullable UnexpectedMessage last;

	/** Removes the first receive or probe that matches a message. */
	@Nullable MessageOperation take(Kind kind, int source, int tag) {
		for (int i = 0; i < this.posted.size(); i++) {
			MessageOperation operation = this.posted.get(i);
			if (operation.kind == kind && operation.accepts(source, tag)) {
				return this.posted.remove(i);
			}
		}
		return null;
	}

	/** The first unexpected message that matches a receive or probe. It stays. */
	@Nullable UnexpectedMessage peek(int source, int tag) {
		UnexpectedMessage message = this.first;
		while (message != null && !MessageOperation.matches(source, tag, message.source, message.tag)) {
			message = message.next;
		}
		return message;
	}

	/** Removes the first unexpected message that matches a receive. */
	@Nullable UnexpectedMessage messageFor(MessageOperation receive) {
		return removed(peek(receive.peer, receive.tag));
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
		UnexpectedMessage message = this.first;
		while (message != null && !condition.test(message)) {
			message = message.next;
		}
		return removed(message);
	}

	private @Nullable UnexpectedMessage removed(@Nullable UnexpectedMessage message) {
		if (message != null) {
			link(message.previous, message.next);
			message.previous = null;
			message.next = null;
		}
		return message;
	}

	private void link(@Nullable UnexpectedMessage before, @Nullable UnexpectedMessage after) {
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
	void add(UnexpectedMessage message) {
		link(this.last, message);
		link(message, null);
	}

	void clear() {
		this.posted.clear();
		this.first = null;
		this.last = null;
	}

}
