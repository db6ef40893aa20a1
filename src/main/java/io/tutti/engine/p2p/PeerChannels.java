package io.tutti.engine.p2p;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.DataType;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * The channels to all other ranks, over connections that are made when there is something
 * to send. Requires the progress engine's lock.
 */
final class PeerChannels implements Connections.Handler {

	private final Connections connections;

	private final BufferPool pool;

	private final Consumer<MessageOperation> completed;

	private final @Nullable PeerChannel[] channels;

	private final List<PeerChannel> used = new ArrayList<>();

	private final List<PeerChannel> lost = new ArrayList<>();

	private final ArrayDeque<SendDescriptor> spare = new ArrayDeque<>();

	/** Descriptors that are queued, and small sends that have returned before. */
	private int queued;

	PeerChannels(int worldSize, Connections connections, BufferPool pool, Consumer<MessageOperation> completed) {
		this.connections = connections;
		this.pool = pool;
		this.completed = completed;
		this.channels = new PeerChannel[worldSize];
	}

	/** Whether frames, or small sends that have returned, wait to be sent. */
	boolean hasQueued() {
		return this.queued > 0;
	}

	/** The channels that were used; not to be changed. */
	List<PeerChannel> known() {
		return this.used;
	}

	/** The channels to lost peers; not to be changed. */
	List<PeerChannel> lost() {
		return this.lost;
	}

	/** The peer of a channel is lost. */
	void lost(PeerChannel peer) {
		this.lost.add(peer);
	}

	/** Why an operation can exchange nothing more with its peer. */
	PeerChannel.@Nullable Loss lost(MessageOperation operation, long now) {
		PeerChannel known = (operation.peer >= 0) ? this.channels[operation.peer] : null;
		return (known != null) ? known.lost(operation, now) : null;
	}

	/** Whether something may still arrive over a connection with a rank. */
	boolean connected(int peer) {
		PeerChannel known = this.channels[peer];
		return known != null && known.connected();
	}

	/** Whether the answer to a send's announcement may still arrive. */
	boolean awaitsAnswer(MessageOperation send) {
		PeerChannel known = this.channels[send.peer];
		return known != null && known.awaitsAnswer(send);
	}

	/** The channel to a rank, made on first use. */
	PeerChannel channel(int peer) {
		PeerChannel found = this.channels[peer];
		if (found == null) {
			found = new PeerChannel(peer, this, this.pool);
			this.channels[peer] = found;
			this.used.add(found);
		}
		return found;
	}

	/**
	 * Sends and receives as many bytes as the connections accept now.
	 * @param first the rank to look at, or a negative number for all
	 * @return whether anything moved
	 */
	boolean progress(int first, FrameReader.Handler handler) {
		boolean moved = poll();
		if (first >= 0) {
			PeerChannel known = this.channels[first];
			return (known != null && known.progress(handler)) || moved;
		}
		for (int i = 0; i < this.used.size(); i++) {
			moved |= this.used.get(i).progress(handler);
		}
		return moved;
	}

	/** Takes new connections. */
	boolean poll() {
		return this.connections.poll(this);
	}

	/** Connects to a rank. */
	void dial(int peer) {
		this.connections.dial(peer);
		poll();
	}

	@Override
	public void arrived(int peer, ByteStream stream) {
		channel(peer).arrived(stream);
	}

	@Override
	public void failed(int peer, IOException cause) {
		channel(peer).failed(cause);
	}

	/** A descriptor to be filled in. */
	SendDescriptor descriptor(int kind, DataType type, long bytes, int tag, long id) {
		SendDescriptor descriptor = this.spare.isEmpty() ? new SendDescriptor() : this.spare.pop();
		descriptor.kind = kind;
		descriptor.type = type.ordinal();
		descriptor.bytes = bytes;
		descriptor.tag = tag;
		descriptor.id = id;
		descriptor.source = 0;
		return descriptor;
	}

	/** Takes a descriptor back and completes its operation, if any. */
	void recycle(SendDescriptor descriptor) {
		MessageOperation operation = descriptor.operation;
		if (operation != null) {
			this.completed.accept(operation);
		}
		descriptor.operation = null;
		descriptor.copy = null;
		descriptor.left = 0;
		this.spare.push(descriptor);
	}

	/** Counts what waits to be sent. */
	void countQueued(int change) {
		this.queued += change;
	}

	/** Receives nothing more. */
	void end() {
		for (PeerChannel peer : this.used) {
			peer.end();
		}
	}

}
