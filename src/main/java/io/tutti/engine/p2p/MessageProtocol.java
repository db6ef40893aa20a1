package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.MessageMismatchException;
import org.jspecify.annotations.Nullable;

/**
 * What ranks tell each other about messages. A small message follows its frame at once
 * (eager protocol); a large one is announced by RTS, leaves when its receiver answers
 * CTS, and is dropped when the receiver answers NACK (rendezvous protocol). Requires the
 * progress engine's lock.
 */
final class MessageProtocol implements FrameReader.Handler {

	private final int rank;

	private final BufferPool pool;

	private final PeerChannels channels;

	private final Consumer<MessageOperation> completed;

	private final MatchingEngine matching = new MatchingEngine();

	/**
	 * @param completed is called with each operation that is done
	 */
	MessageProtocol(int rank, BufferPool pool, PeerChannels channels, Consumer<MessageOperation> completed) {
		this.rank = rank;
		this.pool = pool;
		this.channels = channels;
		this.completed = completed;
	}

	/** Starts an operation. */
	void start(MessageOperation operation) {
		if (!operation.sends) {
			receive(operation);
		}
		else if (operation.peer == this.rank) {
			sendToItself(operation);
		}
		else {
			send(operation);
		}
	}

	private void send(MessageOperation send) {
		PeerChannel peer = this.channels.channel(send.peer);
		if (send.bytes > MessageOperation.EAGER_BYTES) {
			peer.announce(send);
			this.channels.post(peer, Frame.RTS, send.type, send.bytes, send.tag, send.id);
			return;
		}
		SendDescriptor descriptor = this.channels.descriptor(Frame.EAGER, send.type, send.bytes, send.tag, 0);
		descriptor.carry(send);
		this.channels.post(peer, descriptor);
		if (!send.done && this.channels.keep(peer, descriptor)) {
			this.completed.accept(send);
		}
	}

	private void sendToItself(MessageOperation send) {
		MessageOperation receive = this.matching.receiveFor(this.rank, send.tag);
		if (receive != null) {
			complete(receive, send);
			return;
		}
		UnexpectedMessage copy = (send.bytes <= MessageOperation.EAGER_BYTES) ? this.pool.takeUnexpected(send.bytes)
				: null;
		UnexpectedMessage message = (copy != null) ? copy : this.pool.take(0);
		message.set(this.rank, send.tag, send.type, send.bytes);
		this.matching.add(message);
		if (copy != null) {
			HeapTransfer.copy(send.heap, send.address, null, copy.address(), send.bytes);
			copy.whole = true;
			this.completed.accept(send);
		}
		else {
			message.own = send;
		}
	}

	private void receive(MessageOperation receive) {
		UnexpectedMessage message = this.matching.messageFor(receive);
		if (message == null) {
			this.matching.add(receive);
			return;
		}
		MessageOperation own = message.own;
		if (own != null && own.bufferClosed()) {
			own.failure = new IllegalStateException("the buffer of a " + own + " was closed before it was received");
			this.completed.accept(own);
			this.pool.giveBack(message);
			receive(receive);
			return;
		}
		if (own != null) {
			complete(receive, own);
		}
		else if (message.announced) {
			answer(receive, this.channels.channel(message.source), message.tag, message.type, message.bytes,
					message.id);
		}
		else if (message.whole) {
			complete(receive, message);
		}
		else {
			message.claimant = receive;
			return;
		}
		this.pool.giveBack(message);
	}

	@Override
	public boolean frame(FrameReader reader, long frame) throws IOException {
		DataType type = typeOf(frame);
		long bytes = Frame.bytes(frame);
		int tag = Frame.tag(frame);
		long id = Frame.id(frame);
		PeerChannel peer = this.channels.channel(reader.peer());
		switch (Frame.kind(frame)) {
			case Frame.EAGER -> {
				return eager(reader, type, bytes, tag);
			}
			case Frame.RTS -> {
				return announced(peer, type, bytes, tag, id);
			}
			case Frame.CTS -> clearToSend(peer, id);
			case Frame.NACK -> this.completed.accept(known(peer.announced(id), id));
			default -> data(reader, known(peer.awaited(id), id), bytes);
		}
		return true;
	}

	private static DataType typeOf(long frame) throws IOException {
		try {
			return DataType.ofOrdinal(Frame.type(frame));
		}
		catch (IllegalArgumentException ex) {
			throw new IOException("the stream is out of step: " + ex.getMessage(), ex);
		}
	}

	private static MessageOperation known(@Nullable MessageOperation operation, long id) throws IOException {
		if (operation == null) {
			throw new IOException("the stream is out of step: no message has number " + id);
		}
		return operation;
	}

	private boolean eager(FrameReader reader, DataType type, long bytes, int tag) {
		MessageOperation receive = this.matching.receiveFor(reader.peer(), tag);
		if (receive != null && receive.fits(type, bytes)) {
			receive.found(reader.peer(), tag, bytes);
			reader.expect(receive.address, bytes, receive, null);
			return true;
		}
		UnexpectedMessage message = (receive != null) ? this.pool.take(bytes) : this.pool.takeUnexpected(bytes);
		if (message == null) {
			return false;
		}
		message.set(reader.peer(), tag, type, bytes);
		if (receive != null) {
			message.claimant = receive;
		}
		else {
			this.matching.add(message);
		}
		reader.expect(message.address(), bytes, null, message);
		return true;
	}

	private boolean announced(PeerChannel peer, DataType type, long bytes, int tag, long id) {
		MessageOperation receive = this.matching.receiveFor(peer.peer, tag);
		if (receive != null) {
			answer(receive, peer, tag, type, bytes, id);
			return true;
		}
		UnexpectedMessage message = this.pool.takeUnexpected(0);
		if (message == null) {
			return false;
		}
		message.set(peer.peer, tag, type, bytes);
		message.announced = true;
		message.id = id;
		this.matching.add(message);
		return true;
	}

	private void answer(MessageOperation receive, PeerChannel peer, int tag, DataType type, long bytes, long id) {
		receive.found(peer.peer, tag, bytes);
		if (receive.fits(type, bytes)) {
			peer.await(receive, id);
			this.channels.post(peer, Frame.CTS, type, bytes, tag, id);
			return;
		}
		receive.failure = misfit(receive, peer.peer, tag, type, bytes);
		this.channels.post(peer, Frame.NACK, type, bytes, tag, id);
		this.completed.accept(receive);
	}

	private void clearToSend(PeerChannel peer, long id) throws IOException {
		MessageOperation send = known(peer.announced(id), id);
		SendDescriptor descriptor = this.channels.descriptor(Frame.DATA, send.type, send.bytes, send.tag, id);
		descriptor.carry(send);
		this.channels.post(peer, descriptor);
	}

	private static void data(FrameReader reader, MessageOperation receive, long bytes) throws IOException {
		if (bytes != receive.foundBytes) {
			throw new IOException(
					"the stream is out of step: " + bytes + " bytes of a message of " + receive.foundBytes);
		}
		reader.expect(receive.address, bytes, receive, null);
	}

	@Override
	public void body(@Nullable MessageOperation receive, @Nullable UnexpectedMessage message) {
		if (receive != null) {
			this.completed.accept(receive);
		}
		if (message != null) {
			message.whole = true;
			MessageOperation claimant = message.claimant;
			if (claimant != null) {
				complete(claimant, message);
				this.pool.giveBack(message);
			}
		}
	}

	private void complete(MessageOperation receive, MessageOperation send) {
		complete(receive, this.rank, send.tag, send.type, send.bytes, send.heap, send.address);
		this.completed.accept(send);
	}

	private void complete(MessageOperation receive, UnexpectedMessage message) {
		complete(receive, message.source, message.tag, message.type, message.bytes, null, message.address());
	}

	private void complete(MessageOperation receive, int source, int tag, DataType type, long bytes,
			@Nullable MemorySegment heap, long address) {
		receive.found(source, tag, bytes);
		if (receive.fits(type, bytes)) {
			HeapTransfer.copy(heap, address, receive.heap, receive.address, bytes);
		}
		else {
			receive.failure = misfit(receive, source, tag, type, bytes);
		}
		this.completed.accept(receive);
	}

	private static RuntimeException misfit(MessageOperation receive, int source, int tag, DataType type, long bytes) {
		if (receive.bufferClosed()) {
			return new IllegalStateException("the buffer was closed before a message from rank " + source + " with tag "
					+ tag + " (" + bytes + " bytes of " + type + ") came, which is dropped: keep the "
					+ "arena open until the call returns or its future is done");
		}
		return new MessageMismatchException(source, tag, type, bytes, receive.type, receive.bytes);
	}

	/** Forgets all receives and messages. */
	void clear() {
		this.matching.clear();
	}

}
