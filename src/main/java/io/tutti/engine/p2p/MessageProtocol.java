package io.tutti.engine.p2p;

import java.io.IOException;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.engine.p2p.MessageOperation.Kind;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.Ordinals;
import org.jspecify.annotations.Nullable;

/**
 * The protocol of messages between two ranks. A small message follows its frame at once
 * as long as the receiver's credit covers it (eager protocol). Any other is announced by
 * RTS. It is sent when its receiver answers CTS, done when the receiver has read it out
 * of this rank's memory and answers READ, and dropped when the receiver answers NACK
 * (rendezvous protocol). The receiver reads if it can and that takes less time. The
 * receiver answers the RTS of a small message at once if it has memory for it. Requires
 * the progress engine's lock.
 */
final class MessageProtocol implements FrameReader.Handler {

	/**
	 * The reciprocal of the part of the budget that the peers of one group are granted as
	 * credit. The rest is for other groups and for messages beyond the credit.
	 */
	private static final int CREDIT_PART = 8;

	private final MessageFailures failures;

	private final int rank;

	private final BufferPool pool;

	private final PeerChannels channels;

	private final Consumer<MessageOperation> completed;

	/** Memory for eager messages that each peer is granted beyond the initial credit. */
	private final int creditShare;

	private final MatchingEngine matching = new MatchingEngine();

	/**
	 * @param completed is called with each operation that is done
	 */
	MessageProtocol(GroupIdentity identity, MessageFailures failures, BufferPool pool, PeerChannels channels,
			Consumer<MessageOperation> completed) {
		this.failures = failures;
		this.rank = identity.rank();
		this.pool = pool;
		this.channels = channels;
		this.completed = completed;
		this.creditShare = (int) Math.min(EagerCredit.LARGEST_BYTES - EagerCredit.INITIAL_BYTES,
				pool.unexpectedLimit() / CREDIT_PART / Math.max(1, identity.worldSize() - 1));
	}

	/** Starts an operation. */
	void start(MessageOperation operation) {
		switch (operation.kind) {
			case SEND -> send(operation);
			case RECEIVE -> receive(operation);
			case PROBE -> probe(operation);
		}
	}

	/**
	 * Ends an operation that has matched nothing. A send that is announced asks its
	 * receiver first, and ends with the answer, for the last reason. One that is being
	 * sent eagerly succeeds instead: the receiver need not match it.
	 * @return {@code false} if a message has matched it
	 */
	boolean withdraw(MessageOperation operation, RuntimeException why) {
		if (operation.sends() && operation.peer != this.rank) {
			return cancelSend(operation, why);
		}
		IncomingMessage own = operation.sends() ? this.matching.removeOwn(operation) : null;
		if (own != null) {
			release(own);
		}
		boolean unmatched = own != null || this.matching.remove(operation);
		if (unmatched) {
			operation.withdraw(why);
			this.completed.accept(operation);
		}
		return unmatched;
	}

	private boolean cancelSend(MessageOperation send, RuntimeException why) {
		PeerChannel peer = this.channels.channel(send.peer);
		long id = peer.announcementOf(send);
		if (peer.takeBack(send, id, why)) {
			return true;
		}
		if (id < 0) {
			boolean kept = peer.keepEager(send);
			if (kept) {
				this.completed.accept(send);
			}
			return kept;
		}
		if (send.withdrawal != null) {
			send.withdrawal = why;
			return true;
		}
		send.beginWithdrawal(why, peer.moves());
		peer.post(Frame.CANCEL, id);
		return true;
	}

	/** The first unexpected message that matches, without receiving it. */
	@Nullable Message peek(int source, int tag) {
		IncomingMessage message = this.matching.peek(source, tag);
		return (message != null) ? new Message(message.source, message.tag, message.bytes / message.type.bytes())
				: null;
	}

	private void probe(MessageOperation probe) {
		IncomingMessage message = this.matching.peek(probe.peer, probe.tag);
		if (message == null) {
			this.matching.add(probe);
			return;
		}
		completeProbe(probe, message);
	}

	private void send(MessageOperation send) {
		if (send.peer == this.rank) {
			sendToItself(send);
			return;
		}
		PeerChannel peer = this.channels.channel(send.peer);
		boolean small = send.bytes <= MessageOperation.SMALL_BYTES;
		boolean eager = send.bytes <= peer.eagerBytes() && takeCredit(peer, send.bytes);
		SendDescriptor descriptor = this.channels.descriptor(eager ? Frame.EAGER : Frame.DATA, send.type, send.bytes,
				send.tag, 0);
		descriptor.carry(send);
		if (eager) {
			peer.post(descriptor);
		}
		else {
			peer.announce(descriptor);
			SendDescriptor rts = this.channels.descriptor(Frame.RTS, send.type, send.bytes, send.tag, descriptor.id);
			rts.source = small ? 0 : send.address;
			peer.post(rts);
		}
		if (small && !send.done() && !peer.lost() && peer.keep(descriptor)) {
			this.completed.accept(send);
		}
	}

	/** Reads arrived frames if the credit is too small, since they may return credit. */
	private boolean takeCredit(PeerChannel peer, long bytes) {
		return peer.credit.take(bytes) || peer.progress(this) && peer.credit.take(bytes);
	}

	private void sendToItself(MessageOperation send) {
		MessageOperation receive = this.matching.take(Kind.RECEIVE, this.rank, send.tag);
		IncomingMessage copy = (receive == null && send.bytes <= MessageOperation.SMALL_BYTES)
				? this.pool.takeUnexpected(send.bytes) : null;
		IncomingMessage message = (copy != null) ? copy : this.pool.take(0);
		message.set(this.rank, send.tag, send.type, send.bytes);
		message.whole = true;
		if (copy != null) {
			HeapTransfer.copy(send.heap, send.address, null, copy.address, send.bytes);
			this.completed.accept(send);
		}
		else {
			message.own = send;
		}
		match(receive, message);
	}

	private void receive(MessageOperation receive) {
		IncomingMessage message = this.matching.messageFor(receive);
		if (message == null) {
			this.matching.add(receive);
			return;
		}
		MessageOperation own = message.own;
		if (own != null && own.bufferClosed()) {
			own.failure = this.failures.closedBuffer(own);
			this.completed.accept(own);
			release(message);
			receive(receive);
			return;
		}
		match(receive, message);
	}

	/**
	 * Delivers a message to the receive that matches it, or queues it if there is none.
	 */
	private void match(@Nullable MessageOperation receive, IncomingMessage message) {
		if (receive == null) {
			addUnexpected(message);
		}
		else if (message.announced) {
			answer(receive, message);
		}
		else if (message.whole) {
			complete(receive, message);
		}
		else {
			message.claimant = receive;
		}
	}

	/** Takes the buffer of a message back, and its credit. */
	private void release(IncomingMessage message) {
		boolean eager = message.eager;
		this.pool.giveBack(message);
		if (eager) {
			consumed(this.channels.channel(message.source), message.bytes);
		}
	}

	private void consumed(PeerChannel peer, long bytes) {
		peer.credit.consumed(bytes);
		returnCredit(peer);
	}

	/**
	 * A frame to a process that has left and ended resets the connection, and messages
	 * are lost that its kernel has yet to deliver.
	 */
	private void returnCredit(PeerChannel peer) {
		if (peer.credit.mustReturn() && !peer.lost() && !this.failures.mayHaveLeft(peer)) {
			peer.post(Frame.CREDIT, 0);
		}
	}

	@Override
	public void frame(FrameReader reader, long frame) throws IOException {
		DataType type = typeOf(frame);
		long id = Frame.id(frame);
		PeerChannel peer = this.channels.channel(reader.peer());
		peer.credit.returned(Frame.credit(frame));
		switch (Frame.kind(frame)) {
			case Frame.EAGER -> eager(reader, peer, type, frame);
			case Frame.RTS -> announced(peer, type, frame);
			case Frame.CTS -> peer.post(answered(peer, id));
			case Frame.NACK -> peer.release(answered(peer, id));
			case Frame.CREDIT -> {
			}
			case Frame.CANCEL -> cancel(peer, id);
			case Frame.CANCELLED -> cancelled(peer, id);
			case Frame.READ -> read(peer, id);
			default -> data(reader, peer, Frame.bytes(frame), id);
		}
	}

	private static DataType typeOf(long frame) throws IOException {
		try {
			return Ordinals.type(Frame.type(frame));
		}
		catch (IllegalArgumentException ex) {
			throw new IOException("the stream is out of sync: " + ex.getMessage(), ex);
		}
	}

	private static <T> T known(@Nullable T transfer, long id) throws IOException {
		if (transfer == null) {
			throw new IOException("the stream is out of sync: no message has number " + id);
		}
		return transfer;
	}

	/** Enlarges the peer's credit when its first message arrives. */
	private void enlargeCredit(PeerChannel peer) {
		if (peer.credit.enlargeable()) {
			peer.credit.enlarge(this.pool.reserve(this.creditShare) ? this.creditShare : 0);
		}
		returnCredit(peer);
	}

	private void eager(FrameReader reader, PeerChannel peer, DataType type, long frame) throws IOException {
		long bytes = Frame.bytes(frame);
		int tag = Frame.tag(frame);
		enlargeCredit(peer);
		peer.credit.arrived(bytes);
		MessageOperation receive = this.matching.take(Kind.RECEIVE, peer.peer, tag);
		boolean direct = receive != null && receive.fits(type, bytes);
		IncomingMessage message = direct ? reader.direct : this.pool.take(bytes);
		message.set(peer.peer, tag, type, bytes);
		if (receive != null && direct) {
			message.receiveInto(receive);
			consumed(peer, bytes);
		}
		else {
			message.eager = true;
			match(receive, message);
		}
		reader.expect(message);
	}

	private void announced(PeerChannel peer, DataType type, long frame) {
		long bytes = Frame.bytes(frame);
		int tag = Frame.tag(frame);
		enlargeCredit(peer);
		MessageOperation receive = this.matching.take(Kind.RECEIVE, peer.peer, tag);
		IncomingMessage buffer = (receive == null && bytes <= MessageOperation.SMALL_BYTES)
				? this.pool.takeUnexpected(bytes) : null;
		IncomingMessage message = (buffer != null) ? buffer : this.pool.take(0);
		message.set(peer.peer, tag, type, bytes);
		message.announced = (buffer == null);
		message.id = Frame.id(frame);
		message.reference = Frame.reference(frame);
		match(receive, message);
		if (buffer != null) {
			peer.awaitBytes(buffer);
		}
	}

	private void answer(MessageOperation receive, IncomingMessage message) {
		PeerChannel peer = this.channels.channel(message.source);
		if (!receive.fits(message.type, message.bytes)) {
			peer.post(Frame.NACK, message.id);
			complete(receive, message);
			return;
		}
		message.receiveInto(receive);
		message.matchedNanos = System.nanoTime();
		if (receive.heap != null) {
			message.reference = 0;
		}
		if (message.reference == 0 || !peer.read(message)) {
			peer.awaitBytes(message);
		}
	}

	/**
	 * The receiver has read a send out of this rank's memory. If its buffer was closed
	 * before, it may have read something else, and the group breaks.
	 */
	private void read(PeerChannel peer, long id) throws IOException {
		SendDescriptor descriptor = answered(peer, id);
		MessageOperation send = descriptor.operation;
		if (send != null && send.bufferClosed()) {
			peer.loseBuffer(send);
			return;
		}
		peer.release(descriptor);
	}

	/** The receiver has matched an announced send. */
	private static SendDescriptor answered(PeerChannel peer, long id) throws IOException {
		SendDescriptor descriptor = known(peer.announced(id), id);
		if (descriptor.operation != null) {
			descriptor.operation.matched();
		}
		return descriptor;
	}

	private void cancel(PeerChannel peer, long id) {
		IncomingMessage message = this.matching.removeAnnounced(peer.peer, id);
		if (message != null) {
			release(message);
			peer.post(Frame.CANCELLED, id);
		}
	}

	private void cancelled(PeerChannel peer, long id) throws IOException {
		SendDescriptor descriptor = known(peer.announced(id), id);
		MessageOperation send = descriptor.operation;
		if (send == null || send.withdrawal == null) {
			throw new IOException("the stream is out of sync: message " + id + " was not to be cancelled");
		}
		send.withdraw(send.withdrawal);
		peer.release(descriptor);
	}

	private static void data(FrameReader reader, PeerChannel peer, long bytes, long id) throws IOException {
		IncomingMessage message = known(peer.awaited(id), id);
		if (bytes != message.bytes) {
			throw new IOException("the stream is out of sync: " + bytes + " bytes of a message of " + message.bytes);
		}
		reader.expect(message);
	}

	@Override
	public void body(IncomingMessage message) {
		message.whole = true;
		if (message.announced) {
			this.channels.channel(message.source).arrived(message);
		}
		if (message.claimant != null) {
			complete(message.claimant, message);
		}
	}

	/** Queues a message without a receive, and ends the probes that wait for it. */
	private void addUnexpected(IncomingMessage message) {
		this.matching.add(message);
		MessageOperation probe = this.matching.take(Kind.PROBE, message.source, message.tag);
		while (probe != null) {
			completeProbe(probe, message);
			probe = this.matching.take(Kind.PROBE, message.source, message.tag);
		}
	}

	private void completeProbe(MessageOperation probe, IncomingMessage message) {
		probe.type = message.type;
		probe.matched(message.source, message.tag, message.bytes);
		this.completed.accept(probe);
	}

	private void complete(MessageOperation receive, IncomingMessage message) {
		MessageOperation own = message.own;
		if (!message.direct) {
			deliver(receive, message);
		}
		this.completed.accept(receive);
		if (own != null) {
			this.completed.accept(own);
		}
		release(message);
	}

	private void deliver(MessageOperation receive, IncomingMessage message) {
		MessageOperation own = message.own;
		receive.matched(message.source, message.tag, message.bytes);
		if (!receive.fits(message.type, message.bytes)) {
			receive.failure = this.failures.misfit(receive, message.type);
		}
		else if (own != null) {
			HeapTransfer.copy(own.heap, own.address, receive.heap, receive.address, own.bytes);
		}
		else {
			HeapTransfer.copy(null, message.address, receive.heap, receive.address, message.bytes);
		}
	}

	/** Forgets all receives and messages. */
	void clear() {
		this.matching.clear();
	}

}
