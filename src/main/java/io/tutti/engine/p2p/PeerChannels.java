package io.tutti.engine.p2p;

import java.io.IOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * The channels to all other ranks: sends frames and receives them, over connections that
 * are made when there is something to send. Requires the progress engine's lock.
 */
final class PeerChannels implements Connections.Handler {

	private final Connections connections;

	private final BufferPool pool;

	private final Consumer<MessageOperation> completed;

	private final @Nullable PeerChannel[] channels;

	private final List<PeerChannel> used = new ArrayList<>();

	private final HeapTransfer heapTransfer = new HeapTransfer();

	private @Nullable SendDescriptor spare;

	/** Descriptors that are queued. */
	private int queued;

	/** Small sends that have returned and are not sent yet. */
	private int kept;

	PeerChannels(int worldSize, Connections connections, BufferPool pool, Consumer<MessageOperation> completed) {
		this.connections = connections;
		this.pool = pool;
		this.completed = completed;
		this.channels = new PeerChannel[worldSize];
	}

	/** Whether frames, or small sends that have returned, wait to be sent. */
	boolean hasQueued() {
		return this.queued > 0 || this.kept > 0;
	}

	/** The channels that were used; not to be changed. */
	List<PeerChannel> known() {
		return this.used;
	}

	/**
	 * Why an operation can exchange nothing more with its peer. Where only sending to it
	 * has failed, messages that it sent before may still arrive.
	 */
	PeerChannel.@Nullable Loss lost(MessageOperation operation) {
		PeerChannel peer = (operation.peer >= 0) ? this.channels[operation.peer] : null;
		return (peer != null && (operation.sends() || peer.readers.isEmpty())) ? peer.lost : null;
	}

	/**
	 * How many bytes of an operation have moved, while they move. Allocates nothing: each
	 * check of a waiting call asks for it.
	 */
	long movedBytes(MessageOperation operation) {
		long moved = 0;
		for (int i = 0; i < this.used.size(); i++) {
			moved += this.used.get(i).movedBytes(operation);
		}
		return moved;
	}

	/** Whether something may still arrive over a connection with a rank. */
	boolean connected(int peer) {
		PeerChannel known = this.channels[peer];
		return known != null && !known.readers.isEmpty();
	}

	/** The channel to a rank, made on first use. */
	PeerChannel channel(int peer) {
		PeerChannel found = this.channels[peer];
		if (found == null) {
			EagerCredit credit = new EagerCredit();
			found = new PeerChannel(peer, new SendQueue(this::sent, this.pool, credit), credit);
			this.channels[peer] = found;
			this.used.add(found);
		}
		return found;
	}

	/** A descriptor to be filled in. */
	SendDescriptor descriptor(int kind, DataType type, long bytes, int tag, long id) {
		SendDescriptor descriptor = this.spare;
		if (descriptor == null) {
			descriptor = new SendDescriptor();
		}
		else {
			this.spare = descriptor.next;
		}
		descriptor.kind = kind;
		descriptor.type = type.ordinal();
		descriptor.bytes = bytes;
		descriptor.tag = tag;
		descriptor.id = id;
		descriptor.source = 0;
		return descriptor;
	}

	/** Sends a frame that only names a message. */
	void post(PeerChannel peer, int kind, long id) {
		post(peer, descriptor(kind, DataType.INT8, 0, 0, id));
	}

	/** Queues a descriptor, and sends it at once if possible. */
	void post(PeerChannel peer, SendDescriptor descriptor) {
		this.queued++;
		peer.queue.add(descriptor);
		if (peer.lost != null) {
			drop(peer);
			return;
		}
		if (!peer.queue.connected()) {
			connect(peer);
		}
		pump(peer);
	}

	private void connect(PeerChannel peer) {
		if (!peer.dialing) {
			this.connections.poll(this);
			if (!peer.queue.connected()) {
				peer.dialing = true;
				this.connections.dial(peer.peer);
				this.connections.poll(this);
			}
		}
	}

	/**
	 * Copies the bytes of a small send, so that its caller can return.
	 * @return whether there was room
	 */
	boolean keep(PeerChannel peer, SendDescriptor descriptor) {
		long charge = BufferPool.chargeOf(descriptor.body);
		if (!peer.queue.connected() || peer.keptBytes + charge > PeerChannel.MAX_KEPT_BYTES) {
			return false;
		}
		peer.queue.keep(descriptor, this.pool.take(descriptor.body));
		peer.keptBytes += charge;
		this.kept++;
		descriptor.keptFor = peer;
		descriptor.operation = null;
		return true;
	}

	/**
	 * Sends and receives as many bytes as the connections accept now.
	 * @param first the rank to look at, or a negative number for all
	 * @return whether anything moved
	 */
	boolean progress(int first, FrameReader.Handler handler) {
		boolean moved = this.connections.poll(this);
		if (first >= 0) {
			PeerChannel peer = this.channels[first];
			return (peer != null && progress(peer, handler)) || moved;
		}
		for (int i = 0; i < this.used.size(); i++) {
			moved |= progress(this.used.get(i), handler);
		}
		return moved;
	}

	/** As {@link #progress(int, FrameReader.Handler)}, with one peer. */
	boolean progress(PeerChannel peer, FrameReader.Handler handler) {
		boolean moved = pump(peer) | read(peer);
		for (int i = peer.readers.size() - 1; i >= 0; i--) {
			try {
				moved |= peer.readers.get(i).pump(handler);
			}
			catch (IOException ex) {
				FrameReader ended = peer.readers.remove(i);
				lose(peer, loss(ended.operation, "its connection for messages ended (" + ex.getMessage() + ")"));
			}
		}
		return moved;
	}

	private boolean pump(PeerChannel peer) {
		try {
			return peer.queue.pump();
		}
		catch (IOException ex) {
			lose(peer, loss(peer.queue.sending(), "sending to it failed (" + ex.getMessage() + ")"));
			return false;
		}
	}

	/**
	 * Copies the next bytes of the first announced message that is read out of the peer's
	 * memory.
	 * @return whether there was one
	 */
	private boolean read(PeerChannel peer) {
		MessageOperation receive = peer.reading();
		if (receive == null) {
			return false;
		}
		try {
			receive.requireOpenBuffer();
		}
		catch (IOException ex) {
			loseBuffer(peer, receive);
			return true;
		}
		boolean read = peer.copy(receive, SendQueue.ROUND_BYTES);
		if (!read || receive.readBytes == receive.foundBytes) {
			post(peer, read ? Frame.READ : Frame.CTS, receive.id);
		}
		return true;
	}

	/** The buffer of an operation was closed while it was read or written here. */
	void loseBuffer(PeerChannel peer, MessageOperation operation) {
		peer.readers.clear();
		lose(peer, closed(operation));
	}

	/**
	 * @param moved the operation whose bytes were moving, if any: if its buffer is
	 * closed, the peer is not at fault
	 */
	private static PeerChannel.Loss loss(@Nullable MessageOperation moved, String why) {
		return (moved != null && moved.bufferClosed()) ? closed(moved) : new PeerChannel.Loss(why, true);
	}

	private static PeerChannel.Loss closed(MessageOperation operation) {
		return new PeerChannel.Loss("the buffer of a " + operation
				+ " was closed: keep its arena open until the call returns or its future is done", false);
	}

	private void lose(PeerChannel peer, PeerChannel.Loss loss) {
		if (peer.lost == null) {
			peer.lost = loss;
			drop(peer);
		}
	}

	/** Drops all sends to a lost peer; those that have not returned stay in flight. */
	private void drop(PeerChannel peer) {
		peer.queue.drop();
		peer.dropReading();
		for (SendDescriptor announced : peer.takeAnnounced()) {
			announced.operation = null;
			release(announced);
		}
	}

	@Override
	public void arrived(int peer, ByteStream stream, boolean dialed) {
		PeerChannel other = channel(peer);
		other.readers.add(new FrameReader(peer, stream, this.heapTransfer));
		if (!other.queue.connected()) {
			other.connect(stream);
		}
	}

	@Override
	public void failed(int peer, IOException cause) {
		PeerChannel other = channel(peer);
		if (!other.queue.connected()) {
			lose(other,
					new PeerChannel.Loss(String.valueOf(cause.getMessage()), !(cause instanceof UnknownHostException)));
		}
	}

	private void sent(SendDescriptor descriptor) {
		this.queued--;
		release(descriptor);
	}

	/** Takes a descriptor back and completes its operation, if any. */
	void release(SendDescriptor descriptor) {
		UnexpectedMessage copy = descriptor.copy;
		if (copy != null) {
			this.pool.giveBack(copy);
		}
		PeerChannel keptFor = descriptor.keptFor;
		if (keptFor != null) {
			keptFor.keptBytes -= BufferPool.chargeOf(descriptor.bytes);
			this.kept--;
		}
		MessageOperation operation = descriptor.operation;
		if (operation != null) {
			this.completed.accept(operation);
		}
		descriptor.operation = null;
		descriptor.copy = null;
		descriptor.keptFor = null;
		descriptor.heap = null;
		descriptor.body = 0;
		descriptor.next = this.spare;
		this.spare = descriptor;
	}

	/** Receives nothing more. */
	void end() {
		for (PeerChannel peer : this.used) {
			peer.readers.clear();
			peer.dropReading();
		}
	}

}
