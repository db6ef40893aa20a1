package io.tutti.engine.transport.message;

import java.io.IOException;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.DataType;
import io.tutti.engine.transport.Wire;
import io.tutti.engine.transport.Wires;
import org.jspecify.annotations.Nullable;

/**
 * Carries letters to the other ranks and takes in theirs, over connections that it makes
 * when there is something to tell.
 */
final class Delivery implements Wires.Arrivals, Outbox.Listener {

	private final Wires wires;

	private final ParcelShelves shelves;

	private final OpenOperations open;

	private final @Nullable Correspondent[] correspondents;

	private final List<Correspondent> used = new ArrayList<>();

	private final HeapStage heapStage = new HeapStage();

	private @Nullable Letter spare;

	/** Letters that have not left. */
	private int letters;

	Delivery(int worldSize, Wires wires, ParcelShelves shelves, OpenOperations open) {
		this.wires = wires;
		this.shelves = shelves;
		this.open = open;
		this.correspondents = new Correspondent[worldSize];
	}

	/** Whether letters wait for the network to take them. */
	boolean hasLetters() {
		return this.letters > 0;
	}

	/** What is under way with a rank, {@code null} if nothing ever was. */
	@Nullable Correspondent known(int peer) {
		return this.correspondents[peer];
	}

	/** Those with whom something is or was under way; not to be changed. */
	List<Correspondent> known() {
		return this.used;
	}

	Correspondent correspondent(int peer) {
		Correspondent found = this.correspondents[peer];
		if (found == null) {
			found = new Correspondent(peer, new Outbox(this, this.shelves));
			this.correspondents[peer] = found;
			this.used.add(found);
		}
		return found;
	}

	/** A letter to be filled in. */
	Letter letter(int kind, DataType type, long bytes, int tag, long id) {
		Letter letter = this.spare;
		if (letter == null) {
			letter = new Letter();
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
	void post(Correspondent peer, int kind, DataType type, long bytes, int tag, long id) {
		post(peer, letter(kind, type, bytes, tag, id));
	}

	/** Posts a letter, which leaves at once if it can. */
	void post(Correspondent peer, Letter letter) {
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

	private void connect(Correspondent peer) {
		if (!peer.dialing) {
			this.wires.poll(this);
			if (!peer.outbox.connected()) {
				peer.dialing = true;
				this.wires.dial(peer.peer, Long.MAX_VALUE);
				this.wires.poll(this);
			}
		}
	}

	/**
	 * Keeps the bytes of a small letter, so that its caller can go on; not beyond a
	 * limit.
	 */
	boolean keep(Correspondent peer, Letter letter) {
		if (!peer.outbox.connected() || peer.keptBytes + letter.body > Correspondent.MAX_KEPT_BYTES) {
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
	boolean progress(int first, Inbox.Reader reader) {
		boolean moved = this.wires.poll(this);
		if (first >= 0) {
			Correspondent peer = this.correspondents[first];
			return (peer != null && progress(peer, reader)) || moved;
		}
		for (int i = 0; i < this.used.size(); i++) {
			moved |= progress(this.used.get(i), reader);
		}
		return moved;
	}

	private boolean progress(Correspondent peer, Inbox.Reader reader) {
		boolean moved = pump(peer);
		for (int i = peer.inboxes.size() - 1; i >= 0; i--) {
			try {
				moved |= peer.inboxes.get(i).pump(reader);
			}
			catch (IOException ex) {
				Inbox ended = peer.inboxes.remove(i);
				lose(peer, loss(ended.operation, "its connection for messages ended (" + ex.getMessage() + ")"));
			}
		}
		return moved;
	}

	private boolean pump(Correspondent peer) {
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
	private static Correspondent.Loss loss(@Nullable Operation moved, String why) {
		return (moved != null && moved.bufferClosed())
				? new Correspondent.Loss(
						"the buffer of a " + moved
								+ " was closed: keep its arena open until the call returns or its future is done",
						false)
				: new Correspondent.Loss(why, true);
	}

	private static void lose(Correspondent peer, Correspondent.Loss loss) {
		if (peer.lost == null) {
			peer.lost = loss;
			peer.outbox.drop();
		}
	}

	@Override
	public void arrived(int peer, Wire wire, boolean dialed) {
		Correspondent other = correspondent(peer);
		other.inboxes.add(new Inbox(peer, wire, this.heapStage));
		if (!other.outbox.connected()) {
			other.outbox.connect(wire);
		}
	}

	@Override
	public void failed(int peer, IOException cause) {
		Correspondent other = correspondent(peer);
		if (!other.outbox.connected()) {
			lose(other, new Correspondent.Loss(String.valueOf(cause.getMessage()),
					!(cause instanceof UnknownHostException)));
		}
	}

	@Override
	public void sent(Letter letter) {
		this.letters--;
		Parcel parcel = letter.parcel;
		if (parcel != null) {
			this.shelves.giveBack(parcel);
		}
		Correspondent keeper = letter.keeper;
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
