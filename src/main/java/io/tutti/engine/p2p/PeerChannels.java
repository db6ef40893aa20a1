package io.tutti.engine.p2p;

import java.io.IOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.DataType;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.Connections;
import org.jspecify.annotations.Nullable;

/**
 * Carries letters to the other ranks and takes in theirs, over connections that it makes
 * when there is something to tell.
 */
final class PeerChannels implements Connections.Handler, SendQueue.Listener {

	private final Connections wires;

	private final BufferPool shelves;

	private final InFlightOperations open;

	private final @Nullable PeerChannel[] correspondents;

	private final List<PeerChannel> used = new ArrayList<>();

	private final HeapStage heapStage = new HeapStage();

	private @Nullable SendDescriptor spare;

	/** Letters that have not left. */
	private int letters;

	PeerChannels(int worldSize, Connections wires, BufferPool shelves, InFlightOperations open) {
		this.wires = wires;
		this.shelves = shelves;
		this.open = open;
		this.correspondents = new PeerChannel[worldSize];
	}

	/** Whether letters wait for the network to take them. */
	boolean hasLetters() {
		return this.letters > 0;
	}

	/** What is under way with a rank, {@code null} if nothing ever was. */
	@Nullable PeerChannel known(int peer) {
		return this.correspondents[peer];
	}

	/** Those with whom something is or was under way; not to be changed. */
	List<PeerChannel> known() {
		return this.used;
	}

	PeerChannel correspondent(int peer) {
		PeerChannel found = this.correspondents[peer];
		if (found == null) {
			found = new PeerChannel(peer, new SendQueue(this, this.shelves));
			this.correspondents[peer] = found;
			this.used.add(found);
		}
		return found;
	}

	/** A letter to be filled in. */
	SendDescriptor letter(int kind, DataType type, long bytes, int tag, long id) {
		SendDescriptor letter = this.spare;
		if (letter == null) {
			letter = new SendDescriptor();
		}
		else {
			this.spare = letter.next;
		}
		letter.kind = kind;
		letter.type = type.ordinal();
		letter.bytes = bytes;
		letter.tag = tag;
		letter.id = id;
		return letter;
	}

	/** Posts a letter without bytes. */
	void post(PeerChannel peer, int kind, DataType type, long bytes, int tag, long id) {
		post(peer, letter(kind, type, bytes, tag, id));
	}

	/** Posts a letter, which leaves at once if it can. */
	void post(PeerChannel peer, SendDescriptor letter) {
		this.letters++;
		peer.outbox.add(letter);
		if (peer.lost != null) {
			peer.outbox.drop();
			return;
		}
		if (!peer.outbox.connected()) {
			connect(peer);
		}
		pump(peer);
	}

	private void connect(PeerChannel peer) {
		if (!peer.dialing) {
			this.wires.poll(this);
			if (!peer.outbox.connected()) {
				peer.dialing = true;
				this.wires.dial(peer.peer);
				this.wires.poll(this);
			}
		}
	}

	/**
	 * Keeps the bytes of a small letter, so that its caller can go on; not beyond a
	 * limit.
	 */
	boolean keep(PeerChannel peer, SendDescriptor letter) {
		if (!peer.outbox.connected() || peer.keptBytes + letter.body > PeerChannel.MAX_KEPT_BYTES) {
			return false;
		}
		peer.outbox.keep(letter, this.shelves.take(letter.body));
		peer.keptBytes += letter.bytes;
		letter.keeper = peer;
		letter.operation = null;
		return true;
	}

	/**
	 * Moves letters on.
	 * @param first the rank to look at, or any negative number to look at all
	 * @return whether anything moved
	 */
	boolean progress(int first, FrameReader.Reader reader) {
		boolean moved = this.wires.poll(this);
		if (first >= 0) {
			PeerChannel peer = this.correspondents[first];
			return (peer != null && progress(peer, reader)) || moved;
		}
		for (int i = 0; i < this.used.size(); i++) {
			moved |= progress(this.used.get(i), reader);
		}
		return moved;
	}

	private boolean progress(PeerChannel peer, FrameReader.Reader reader) {
		boolean moved = pump(peer);
		for (int i = peer.inboxes.size() - 1; i >= 0; i--) {
			try {
				moved |= peer.inboxes.get(i).pump(reader);
			}
			catch (IOException ex) {
				FrameReader ended = peer.inboxes.remove(i);
				lose(peer, loss(ended.operation, "its connection for messages ended (" + ex.getMessage() + ")"));
			}
		}
		return moved;
	}

	private boolean pump(PeerChannel peer) {
		try {
			return peer.outbox.pump();
		}
		catch (IOException ex) {
			lose(peer, loss(peer.outbox.sent(), "sending to it failed (" + ex.getMessage() + ")"));
			return false;
		}
	}

	/**
	 * @param moved the operation whose bytes were on their way, if any: if its buffer is
	 * closed, the peer is not to blame
	 */
	private static PeerChannel.Loss loss(@Nullable Operation moved, String why) {
		return (moved != null && moved.bufferClosed())
				? new PeerChannel.Loss(
						"the buffer of a " + moved
								+ " was closed: keep its arena open until the call returns or its future is done",
						false)
				: new PeerChannel.Loss(why, true);
	}

	private static void lose(PeerChannel peer, PeerChannel.Loss loss) {
		if (peer.lost == null) {
			peer.lost = loss;
			peer.outbox.drop();
		}
	}

	@Override
	public void arrived(int peer, ByteStream wire, boolean dialed) {
		PeerChannel other = correspondent(peer);
		other.inboxes.add(new FrameReader(peer, wire, this.heapStage));
		if (!other.outbox.connected()) {
			other.outbox.connect(wire);
		}
	}

	@Override
	public void failed(int peer, IOException cause) {
		PeerChannel other = correspondent(peer);
		if (!other.outbox.connected()) {
			lose(other,
					new PeerChannel.Loss(String.valueOf(cause.getMessage()), !(cause instanceof UnknownHostException)));
		}
	}

	@Override
	public void sent(SendDescriptor letter) {
		this.letters--;
		UnexpectedMessage parcel = letter.parcel;
		if (parcel != null) {
			this.shelves.giveBack(parcel);
		}
		PeerChannel keeper = letter.keeper;
		if (keeper != null) {
			keeper.keptBytes -= letter.bytes;
		}
		Operation operation = letter.operation;
		if (operation != null) {
			this.open.finish(operation);
		}
		letter.operation = null;
		letter.parcel = null;
		letter.keeper = null;
		letter.heap = null;
		letter.body = 0;
		letter.next = this.spare;
		this.spare = letter;
	}

	/** Reads nothing more. */
	void end() {
		this.used.forEach((peer) -> peer.inboxes.clear());
	}

}
