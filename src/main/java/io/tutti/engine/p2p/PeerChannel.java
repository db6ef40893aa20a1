package io.tutti.engine.p2p;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * The state of messages with one other rank: its queue of sends, its connections, and the
 * transfers of the rendezvous protocol.
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

	/** Bytes of small sends that have returned and are queued, at most. */
	static final long MAX_KEPT_BYTES = 4 * 1024 * 1024;

	final int peer;

	final SendQueue queue;

	final EagerCredit credit;

	/** One per connection: there are two where both ranks connected at once. */
	final List<FrameReader> readers = new ArrayList<>(1);

	boolean dialing;

	long keptBytes;

	/** Why nothing more can be exchanged with the peer. */
	@Nullable Loss lost;

	private long announcements;

	/** Sends that wait for CTS or NACK. */
	private final List<SendDescriptor> announced = new ArrayList<>();

	/** Receives that have sent CTS and wait for the data. */
	private final List<MessageOperation> awaiting = new ArrayList<>();

	/** Receives that are being read out of the peer's memory. */
	private final List<MessageOperation> reading = new ArrayList<>();

	/** Reaches the peer's memory; {@code null} if it cannot be read. */
	private @Nullable ByteStream memory;

	/** Small unexpected messages that have sent CTS and wait for the data. */
	private final List<UnexpectedMessage> pulled = new ArrayList<>();

	PeerChannel(int peer, SendQueue queue, EagerCredit credit) {
		this.peer = peer;
		this.queue = queue;
		this.credit = credit;
	}

	/** Sends over a new connection. */
	void connect(ByteStream stream) {
		this.queue.connect(stream);
		this.memory = stream;
	}

	/** Whether no attempt to read a message in the peer's memory has failed. */
	boolean readsMemory() {
		return this.memory != null;
	}

	/** How many bytes of an operation have moved, while they move. */
	long movedBytes(MessageOperation operation) {
		if (operation.sends()) {
			return this.queue.movedBytes(operation);
		}
		long moved = this.reading.contains(operation) ? operation.readBytes : 0;
		for (int i = 0; i < this.readers.size(); i++) {
			moved += this.readers.get(i).movedBytes(operation);
		}
		return moved;
	}

	/** A send waits for CTS under a number that it gets here. */
	void announce(SendDescriptor send) {
		send.id = this.announcements++;
		this.announced.add(send);
	}

	/** Removes the send that was announced under a number. */
	@Nullable SendDescriptor announced(long id) {
		return remove(this.announced, (send) -> send.id, id);
	}

	/** The number of a send that waits for CTS or NACK; negative if it does not. */
	long announcementOf(MessageOperation send) {
		for (int i = 0; i < this.announced.size(); i++) {
			if (this.announced.get(i).operation == send) {
				return this.announced.get(i).id;
			}
		}
		return -1;
	}

	/** Removes all sends that wait for CTS or NACK. */
	List<SendDescriptor> takeAnnounced() {
		List<SendDescriptor> taken = List.copyOf(this.announced);
		this.announced.clear();
		return taken;
	}

	/** A receive waits for the data that the peer announced under a number. */
	void await(MessageOperation receive, long id) {
		receive.id = id;
		this.awaiting.add(receive);
	}

	/** A receive reads the message that the peer announced under a number. */
	void read(MessageOperation receive, long id, long reference) {
		receive.id = id;
		receive.reference = reference;
		receive.readBytes = 0;
		this.reading.add(receive);
	}

	/** The receive that is being read. */
	@Nullable MessageOperation reading() {
		return this.reading.isEmpty() ? null : this.reading.getFirst();
	}

	/**
	 * Copies the next bytes of the receive that is being read. Once all are copied, or no
	 * further byte can be, it waits for what the peer sends.
	 * @return {@code false} if the peer's memory cannot be read, now and from now on
	 */
	boolean copy(MessageOperation receive, long maxBytes) {
		long bytes = Math.min(receive.foundBytes - receive.readBytes, maxBytes);
		boolean read = copyFromPeer(receive, bytes);
		receive.readBytes = read ? receive.readBytes + bytes : 0;
		if (!read || receive.readBytes == receive.foundBytes) {
			this.reading.removeFirst();
			this.awaiting.add(receive);
		}
		return read;
	}

	private boolean copyFromPeer(MessageOperation receive, long bytes) {
		ByteStream reader = this.memory;
		if (reader == null) {
			return false;
		}
		try {
			reader.copyFromPeer(receive.reference + receive.readBytes, receive.address + receive.readBytes, bytes);
			return true;
		}
		catch (IOException ex) {
			this.memory = null;
			return false;
		}
	}

	/** Reads nothing more. */
	void dropReading() {
		this.reading.clear();
	}

	/** Removes the receive that waits for the data announced under a number. */
	@Nullable MessageOperation awaited(long id) {
		return remove(this.awaiting, (receive) -> receive.id, id);
	}

	/** An unexpected message waits for the data that the peer announced. */
	void pull(UnexpectedMessage message) {
		this.pulled.add(message);
	}

	/**
	 * Removes the unexpected message that waits for the data announced under a number.
	 */
	@Nullable UnexpectedMessage pulled(long id) {
		return remove(this.pulled, (message) -> message.id, id);
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
