package io.tutti.engine.p2p;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

import io.tutti.DataType;
import io.tutti.engine.spi.LocalFaultException;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * Messages with one other rank: its queue of sends, its connections, and the transfers of
 * the rendezvous protocol.
 */
final class PeerChannel {

	/**
	 * The end of all exchange with a rank.
	 *
	 * @param why what was detected
	 * @param peerAtFault whether the peer is lost; otherwise this rank cannot reach it
	 */
	record Loss(String why, boolean peerAtFault) {
	}

	/**
	 * How long it may take to read what a rank has answered that has left since, or to
	 * which this rank can send no more. Its connection ends earlier, unless its host is
	 * gone or the rank knows nothing of it.
	 */
	static final Duration ANSWERING = Duration.ofSeconds(5);

	/** Most bytes of one read of the peer's memory. */
	static final long COPY_BYTES = 4 * 1024 * 1024;

	/** Bytes of small sends that have returned and are queued, at most. */
	private static final long MAX_KEPT_BYTES = 4 * 1024 * 1024;

	final int peer;

	final EagerCredit credit = new EagerCredit();

	private final PeerChannels channels;

	private final BufferPool pool;

	private final SendQueue queue;

	/** One per connection: there are two where both ranks connected at once. */
	private final List<FrameReader> readers = new ArrayList<>(1);

	private boolean dialing;

	private int eagerBytes = MessageOperation.SMALL_BYTES;

	private long keptBytes;

	/** Why nothing more can be exchanged with the peer, and since when. */
	private @Nullable Loss lost;

	private long lostNanos;

	/** Whether small sends that had returned were lost with the peer. */
	private boolean undelivered;

	private long announcements;

	/** Sends that wait for CTS, NACK or READ. */
	private final List<SendDescriptor> announced = new ArrayList<>();

	/** Messages that this rank has answered by CTS. */
	private final List<IncomingMessage> awaiting = new ArrayList<>();

	/** Messages that are being read out of the peer's memory. */
	private final List<IncomingMessage> reading = new ArrayList<>();

	private long moves;

	/** Reaches the peer's memory; {@code null} if it cannot be read. */
	private @Nullable ByteStream memory;

	PeerChannel(int peer, PeerChannels channels, BufferPool pool) {
		this.peer = peer;
		this.channels = channels;
		this.pool = pool;
		this.queue = new SendQueue(this::sent, pool, this.credit);
	}

	/** Uses a new connection, to send if it is the first. */
	void arrived(ByteStream stream) {
		this.readers.add(new FrameReader(this.peer, stream, this.pool));
		if (!this.queue.connected()) {
			this.queue.connect(stream);
			this.memory = stream;
			this.eagerBytes = Math.min(stream.eagerBytes(), MessageOperation.EAGER_BYTES);
		}
	}

	/** Largest message to this peer that is sent without an announcement. */
	int eagerBytes() {
		return this.eagerBytes;
	}

	/** This rank could not connect to the peer. */
	void failed(IOException cause) {
		if (!this.queue.connected()) {
			lose(new Loss(String.valueOf(cause.getMessage()), !(cause instanceof LocalFaultException)));
		}
	}

	/** Counts the rounds in which something moved to or from the peer. */
	long moves() {
		return this.moves;
	}

	/** Whether something may still arrive. */
	boolean connected() {
		return !this.readers.isEmpty();
	}

	/** Whether nothing more can be exchanged. */
	boolean lost() {
		return this.lost != null;
	}

	/**
	 * Why an operation can exchange nothing more. While a connection is left, messages
	 * that the peer sent before may still arrive, and for a time answers.
	 */
	@Nullable Loss lost(MessageOperation operation, long now) {
		if (operation.sends()) {
			return awaitsAnswer(operation) ? lostFor(ANSWERING, now) : this.lost;
		}
		return connected() ? null : this.lost;
	}

	/** Whether the answer to a send's announcement may still arrive. */
	boolean awaitsAnswer(MessageOperation send) {
		return connected() && announcementOf(send) >= 0;
	}

	/** Why nothing more can be exchanged, if that was detected so long ago. */
	@Nullable Loss lostFor(Duration atLeast, long now) {
		return (now - this.lostNanos >= atLeast.toNanos()) ? this.lost : null;
	}

	/** Whether small sends that had returned were lost with the peer. */
	boolean undelivered() {
		return this.undelivered;
	}

	/** Whether small sends that have returned wait to be sent. */
	boolean hasReturnedSends() {
		return this.keptBytes > 0 && !lost();
	}

	/**
	 * Whether messages or answers wait to be sent. Credit is for messages that the peer
	 * has yet to send.
	 */
	boolean hasUnsent() {
		return hasReturnedSends() || this.queue.holds((queued) -> queued.kind != Frame.CREDIT);
	}

	/** Sends a frame that only names a message. */
	void post(int kind, long id) {
		post(this.channels.descriptor(kind, DataType.INT8, 0, 0, id));
	}

	/** Queues a descriptor, and sends it at once if possible. */
	void post(SendDescriptor descriptor) {
		this.channels.countQueued(1);
		this.queue.add(descriptor);
		if (lost()) {
			drop();
			return;
		}
		if (!this.queue.connected() && !this.dialing) {
			this.channels.poll();
			if (!this.queue.connected()) {
				this.dialing = true;
				this.channels.dial(this.peer);
			}
		}
		pump();
	}

	/**
	 * Copies the bytes of a small send, so that its caller can return.
	 * @return whether there was room
	 */
	boolean keep(SendDescriptor descriptor) {
		return this.queue.connected() && this.keptBytes + BufferPool.chargeOf(descriptor.bytes) <= MAX_KEPT_BYTES
				&& copy(descriptor);
	}

	private boolean copy(SendDescriptor descriptor) {
		MessageOperation send = descriptor.operation;
		if (send != null && send.bufferClosed()) {
			loseBuffer(send);
			return false;
		}
		this.queue.keep(descriptor, this.pool.take(descriptor.bytes));
		this.keptBytes += BufferPool.chargeOf(descriptor.bytes);
		this.channels.countQueued(1);
		descriptor.operation = null;
		// It may have been closed during the copy.
		if (send != null && send.bufferClosed()) {
			loseBuffer(send);
			return false;
		}
		return true;
	}

	/**
	 * Copies the rest of an eager send whose frame has begun to be sent, so that its
	 * caller can return. One frame at a time is begun, so that no limit is needed.
	 * @return whether it is one, and its buffer is open
	 */
	boolean keepEager(MessageOperation send) {
		SendDescriptor begun = this.queue.current();
		return begun != null && begun.kind == Frame.EAGER && begun.operation == send && copy(begun);
	}

	private void sent(SendDescriptor descriptor) {
		this.channels.countQueued(-1);
		release(descriptor);
	}

	/** Takes a descriptor back and completes its operation, if any. */
	void release(SendDescriptor descriptor) {
		IncomingMessage copy = descriptor.copy;
		if (copy != null) {
			this.pool.giveBack(copy);
			this.keptBytes -= BufferPool.chargeOf(descriptor.bytes);
			this.channels.countQueued(-1);
		}
		this.channels.recycle(descriptor);
	}

	/**
	 * Sends and receives as many bytes as the connections accept now.
	 * @return whether anything moved
	 */
	boolean progress(FrameReader.Handler handler) {
		boolean moved = pump() | read(handler);
		// A message may end all connections.
		for (int i = this.readers.size() - 1; i >= 0; i = Math.min(i, this.readers.size()) - 1) {
			try {
				moved |= this.readers.get(i).pump(handler);
			}
			catch (IOException ex) {
				FrameReader ended = this.readers.remove(i);
				ended.end();
				if (ended.delivered()) {
					endReaders();
				}
				lose(loss(ended.receiver(), "its connection for messages ended (" + ex.getMessage() + ")"));
			}
		}
		this.moves += moved ? 1 : 0;
		return moved;
	}

	private boolean pump() {
		try {
			return this.queue.pump();
		}
		catch (IOException ex) {
			lose(loss(this.queue.sending(), "sending to it failed (" + ex.getMessage() + ")"));
			return false;
		}
	}

	/**
	 * Copies the next bytes of the first message that is read out of the peer's memory.
	 * If they cannot be read, the peer is to send them all.
	 * @return whether there was one
	 */
	private boolean read(FrameReader.Handler handler) {
		IncomingMessage message = this.reading.isEmpty() ? null : this.reading.getFirst();
		MessageOperation receive = (message != null) ? message.claimant : null;
		if (message == null || receive == null) {
			return false;
		}
		if (receive.bufferClosed()) {
			loseBuffer(receive);
			return true;
		}
		long bytes = Math.min(message.bytes - message.readBytes, COPY_BYTES);
		boolean read = copyFromPeer(message.reference + message.readBytes, receive.address + message.readBytes, bytes);
		message.readBytes = read ? message.readBytes + bytes : 0;
		receive.movedBytes = message.readBytes;
		if (!read) {
			awaitBytes(this.reading.removeFirst());
		}
		else if (receive.bufferClosed()) {
			loseBuffer(receive);
		}
		else if (message.readBytes == message.bytes) {
			this.reading.removeFirst();
			post(Frame.READ, message.id);
			handler.body(message);
		}
		return true;
	}

	private boolean copyFromPeer(long reference, long address, long bytes) {
		ByteStream reader = this.memory;
		if (reader == null) {
			return false;
		}
		try {
			reader.copyFromPeer(reference, address, bytes);
			return true;
		}
		catch (IOException ex) {
			this.memory = null;
			return false;
		}
	}

	/** The buffer of an operation was closed while it was read or written here. */
	void loseBuffer(MessageOperation operation) {
		endReaders();
		lose(closed(operation));
	}

	private void endReaders() {
		this.readers.forEach(FrameReader::end);
		this.readers.clear();
	}

	/**
	 * @param moved the operation whose bytes were moving, if any: if its buffer is
	 * closed, the peer is not at fault
	 */
	private static Loss loss(@Nullable MessageOperation moved, String why) {
		return (moved != null && moved.bufferClosed()) ? closed(moved) : new Loss(why, true);
	}

	private static Loss closed(MessageOperation operation) {
		return new Loss("the buffer of a " + operation
				+ " was closed: keep its arena open, or do not free it, until the call returns or its work is done",
				false);
	}

	private void lose(Loss loss) {
		if (this.lost == null) {
			this.lost = loss;
			this.lostNanos = System.nanoTime();
			this.undelivered = this.keptBytes > 0;
			this.channels.lost(this);
			drop();
			this.reading.clear();
		}
		if (!connected()) {
			dropAnnounced((_) -> true);
		}
	}

	/** Drops all frames to a lost peer. Those of RTS get no answer. */
	private void drop() {
		dropAnnounced((send) -> this.queue.holds((queued) -> queued.kind == Frame.RTS && queued.id == send.id));
		this.queue.drop();
	}

	/** Drops announced sends; those that have not returned stay in flight. */
	private void dropAnnounced(Predicate<SendDescriptor> which) {
		for (int i = this.announced.size() - 1; i >= 0; i--) {
			if (which.test(this.announced.get(i))) {
				SendDescriptor send = this.announced.remove(i);
				send.operation = null;
				release(send);
			}
		}
	}

	/** Receives nothing more. */
	void end() {
		endReaders();
		this.reading.clear();
	}

	/** A send waits for the answer to its announcement, under a number given here. */
	void announce(SendDescriptor send) {
		send.id = this.announcements++;
		this.announced.add(send);
	}

	/** Removes the send that was announced under a number. */
	@Nullable SendDescriptor announced(long id) {
		return remove(this.announced, (send) -> send.id, id);
	}

	/**
	 * Withdraws a send of which the peer knows nothing: neither its announcement nor,
	 * without one, its frame has begun to be sent.
	 * @param id number of its announcement, negative if there is none
	 * @return {@code false} if it has
	 */
	boolean takeBack(MessageOperation send, long id, RuntimeException why) {
		SendDescriptor unsent = this.queue.remove((queued) -> (id < 0)
				? queued.kind == Frame.EAGER && queued.operation == send : queued.kind == Frame.RTS && queued.id == id);
		if (unsent == null) {
			return false;
		}
		send.withdraw(why);
		if (id < 0) {
			this.credit.giveBack(send.bytes);
		}
		sent(unsent);
		SendDescriptor announced = announced(id);
		if (announced != null) {
			release(announced);
		}
		return true;
	}

	/** The number of an announced send without an answer; negative for any other. */
	long announcementOf(MessageOperation send) {
		for (SendDescriptor descriptor : this.announced) {
			if (descriptor.operation == send) {
				return descriptor.id;
			}
		}
		return -1;
	}

	/** Answers the announcement of a message, and waits for its bytes. */
	void awaitBytes(IncomingMessage message) {
		this.awaiting.add(message);
		post(Frame.CTS, message.id);
	}

	/** Removes the message that waits under the number of its announcement. */
	@Nullable IncomingMessage awaited(long id) {
		return remove(this.awaiting, (message) -> message.id, id);
	}

	/**
	 * Reads a message out of the peer's memory into the buffer of its receive.
	 * @return {@code false} if the peer is to send it, since its memory cannot be read or
	 * that takes less time
	 */
	boolean read(IncomingMessage message) {
		ByteStream reader = this.memory;
		return this.lost == null && reader != null && reader.prefersCopy(message.reference, message.bytes)
				&& this.reading.add(message);
	}

	/** An announced message has arrived. */
	void arrived(IncomingMessage message) {
		ByteStream reader = this.memory;
		if (reader != null) {
			reader.arrived(message.reference, message.bytes, message.readBytes == message.bytes, message.matchedNanos);
		}
	}

	private static <T> @Nullable T remove(List<T> transfers, ToLongFunction<T> idOf, long id) {
		for (int i = 0; i < transfers.size(); i++) {
			if (idOf.applyAsLong(transfers.get(i)) == id) {
				return transfers.remove(i);
			}
		}
		return null;
	}

}
