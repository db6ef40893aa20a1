package io.tutti.engine.transport.message;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.tutti.engine.DataType;
import io.tutti.engine.MessageMismatchException;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.transport.Wire;
import io.tutti.engine.transport.Wires;
import org.jspecify.annotations.Nullable;

/**
 * Everything of one group's messages that is under way on this rank: starts sends and
 * receives and moves them on. Not thread safe: whoever holds the group's lock for
 * messages may call it.
 */
final class Postroom implements Wires.Arrivals, Inbox.Reader, Outbox.Listener {

	private final int rank;

	private final Wires wires;

	private final Consumer<Operation> finished;

	private final Matching matching = new Matching();

	private final ParcelShelves shelves = new ParcelShelves();

	private final @Nullable Correspondent[] correspondents;

	private final List<Correspondent> used = new ArrayList<>();

	private final List<Inbox> inboxes = new ArrayList<>();

	/** Begun and not done. */
	private final List<Operation> open = new ArrayList<>();

	private @Nullable Letter spare;

	/** Letters that have not left. */
	private int letters;

	private boolean ended;

	/**
	 * @param finished hears of each operation that is done
	 */
	Postroom(int rank, int worldSize, Wires wires, Consumer<Operation> finished) {
		this.rank = rank;
		this.wires = wires;
		this.finished = finished;
		this.correspondents = new Correspondent[worldSize];
	}

	/** What has begun and is not done; not to be changed. */
	List<Operation> open() {
		return this.open;
	}

	/** Whether letters wait for the network to take them. */
	boolean hasLetters() {
		return this.letters > 0;
	}

	/** Why nothing more can come from or go to an operation's peer. */
	@Nullable String lost(Operation operation) {
		Correspondent peer = (operation.peer >= 0) ? this.correspondents[operation.peer] : null;
		return (peer != null) ? peer.lost : null;
	}

	/** Begins an operation and carries it as far as it goes at once. */
	void start(Operation operation) {
		operation.place = this.open.size();
		this.open.add(operation);
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

	private void send(Operation send) {
		Correspondent peer = correspondent(send.peer);
		if (send.bytes > Operation.EAGER_BYTES) {
			peer.announce(send);
			post(peer, Frame.ANNOUNCE, send.type, send.bytes, send.tag, send.id);
			return;
		}
		Letter letter = letter(Frame.EAGER, send.type, send.bytes, send.tag, 0);
		letter.address = send.address;
		letter.body = send.bytes;
		letter.operation = send;
		post(peer, letter);
		if (!send.done && peer.outbox.connected() && peer.keptBytes + send.bytes <= Correspondent.MAX_KEPT_BYTES) {
			Parcel parcel = this.shelves.take(send.bytes);
			peer.outbox.keep(letter, parcel);
			peer.keptBytes += send.bytes;
			letter.keeper = peer;
			letter.operation = null;
			finish(send);
		}
	}

	private void sendToItself(Operation send) {
		Operation receive = this.matching.receiveFor(this.rank, send.tag);
		if (receive != null) {
			hand(receive, this.rank, send.tag, send.type, send.bytes, send.address);
			finish(send);
			return;
		}
		boolean small = send.bytes <= Operation.EAGER_BYTES;
		Parcel parcel = this.shelves.take(small ? send.bytes : 0);
		parcel.set(this.rank, send.tag, send.type, send.bytes);
		this.matching.add(parcel);
		if (small) {
			NativeMemory.copy(send.address, parcel.address(), send.bytes);
			parcel.whole = true;
			finish(send);
		}
		else {
			parcel.own = send;
		}
	}

	private void receive(Operation receive) {
		Parcel parcel = this.matching.parcelFor(receive);
		if (parcel == null) {
			this.matching.add(receive);
			return;
		}
		Operation own = parcel.own;
		if (own != null) {
			hand(receive, this.rank, parcel.tag, parcel.type, parcel.bytes, own.address);
			finish(own);
		}
		else if (parcel.announced) {
			answer(receive, correspondent(parcel.source), parcel.tag, parcel.type, parcel.bytes, parcel.id);
		}
		else if (parcel.whole) {
			hand(receive, parcel.source, parcel.tag, parcel.type, parcel.bytes, parcel.address());
		}
		else {
			parcel.claimant = receive;
			return;
		}
		this.shelves.giveBack(parcel);
	}

	/** Gives a receive a message that is here. */
	private void hand(Operation receive, int source, int tag, DataType type, long bytes, long address) {
		receive.found(source, tag, bytes);
		if (receive.fits(type, bytes)) {
			NativeMemory.copy(address, receive.address, bytes);
		}
		else {
			receive.failure = misfit(receive, source, tag, type, bytes);
		}
		finish(receive);
	}

	/** Pulls an announced message, or refuses it. */
	private void answer(Operation receive, Correspondent peer, int tag, DataType type, long bytes, long id) {
		receive.found(peer.peer, tag, bytes);
		if (receive.fits(type, bytes)) {
			peer.pull(receive, id);
			post(peer, Frame.PULL, type, bytes, tag, id);
			return;
		}
		receive.failure = misfit(receive, peer.peer, tag, type, bytes);
		post(peer, Frame.REFUSE, type, bytes, tag, id);
		finish(receive);
	}

	private static MessageMismatchException misfit(Operation receive, int source, int tag, DataType type, long bytes) {
		return new MessageMismatchException(source, tag, type, bytes, receive.type, receive.bytes);
	}

	private Correspondent correspondent(int peer) {
		Correspondent found = this.correspondents[peer];
		if (found == null) {
			found = new Correspondent(peer, new Outbox(this));
			this.correspondents[peer] = found;
			this.used.add(found);
		}
		return found;
	}

	private void post(Correspondent peer, int kind, DataType type, long bytes, int tag, long id) {
		post(peer, letter(kind, type, bytes, tag, id));
	}

	private Letter letter(int kind, DataType type, long bytes, int tag, long id) {
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

	private void post(Correspondent peer, Letter letter) {
		this.letters++;
		peer.outbox.add(letter);
		if (peer.lost != null) {
			peer.outbox.drop();
			return;
		}
		connect(peer);
		pump(peer);
	}

	private void connect(Correspondent peer) {
		if (!peer.outbox.connected() && !peer.dialing) {
			this.wires.poll(this);
			if (!peer.outbox.connected()) {
				peer.dialing = true;
				this.wires.dial(peer.peer, Long.MAX_VALUE);
				this.wires.poll(this);
			}
		}
	}

	private boolean pump(Correspondent peer) {
		try {
			return peer.outbox.pump();
		}
		catch (IOException ex) {
			lose(peer, "sending to it failed (" + ex.getMessage() + ")");
			return false;
		}
	}

	private void lose(Correspondent peer, String why) {
		if (peer.lost == null) {
			peer.lost = why;
			peer.outbox.drop();
		}
	}

	/**
	 * Moves on what is under way.
	 * @param first the rank to look at, or any negative number to look at all
	 * @return whether anything moved
	 */
	boolean progress(int first) {
		if (this.ended) {
			return false;
		}
		boolean moved = this.wires.poll(this);
		for (int i = 0; i < this.used.size(); i++) {
			Correspondent peer = this.used.get(i);
			if (first < 0 || peer.peer == first) {
				moved |= pump(peer);
			}
		}
		for (int i = this.inboxes.size() - 1; i >= 0; i--) {
			Inbox inbox = this.inboxes.get(i);
			if (first < 0 || inbox.peer() == first) {
				moved |= pump(inbox, i);
			}
		}
		return moved;
	}

	private boolean pump(Inbox inbox, int place) {
		try {
			return inbox.pump();
		}
		catch (IOException ex) {
			this.inboxes.remove(place);
			lose(correspondent(inbox.peer()), "its connection for messages ended (" + ex.getMessage() + ")");
			return false;
		}
	}

	@Override
	public void arrived(int peer, Wire wire, boolean dialed) {
		Correspondent other = correspondent(peer);
		this.inboxes.add(new Inbox(peer, wire, this));
		if (!other.outbox.connected()) {
			other.outbox.connect(wire);
		}
	}

	@Override
	public void failed(int peer, IOException cause) {
		Correspondent other = correspondent(peer);
		if (!other.outbox.connected()) {
			lose(other, String.valueOf(cause.getMessage()));
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
			finish(operation);
		}
		letter.operation = null;
		letter.parcel = null;
		letter.keeper = null;
		letter.body = 0;
		letter.next = this.spare;
		this.spare = letter;
	}

	@Override
	public void frame(Inbox inbox, long frame) throws IOException {
		int kind = Frame.kind(frame);
		DataType type = typeOf(frame);
		long bytes = Frame.bytes(frame);
		int tag = Frame.tag(frame);
		long id = Frame.id(frame);
		Correspondent peer = correspondent(inbox.peer());
		switch (kind) {
			case Frame.EAGER -> eager(inbox, type, bytes, tag);
			case Frame.ANNOUNCE -> announced(peer, type, bytes, tag, id);
			case Frame.PULL -> pulled(peer, id);
			case Frame.REFUSE -> finish(known(peer.announced(id), id));
			default -> data(inbox, known(peer.pulled(id), id), bytes);
		}
	}

	private static DataType typeOf(long frame) throws IOException {
		try {
			return DataType.ofOrdinal(Frame.type(frame));
		}
		catch (IllegalArgumentException ex) {
			throw new IOException("the stream is out of step: " + ex.getMessage(), ex);
		}
	}

	private static Operation known(@Nullable Operation operation, long id) throws IOException {
		if (operation == null) {
			throw new IOException("the stream is out of step: no message goes by number " + id);
		}
		return operation;
	}

	private void eager(Inbox inbox, DataType type, long bytes, int tag) {
		Operation receive = this.matching.receiveFor(inbox.peer(), tag);
		if (receive != null && receive.fits(type, bytes)) {
			receive.found(inbox.peer(), tag, bytes);
			inbox.expect(receive.address, bytes, receive, null);
			return;
		}
		Parcel parcel = this.shelves.take(bytes);
		parcel.set(inbox.peer(), tag, type, bytes);
		if (receive != null) {
			parcel.claimant = receive;
		}
		else {
			this.matching.add(parcel);
		}
		inbox.expect(parcel.address(), bytes, null, parcel);
	}

	private void announced(Correspondent peer, DataType type, long bytes, int tag, long id) {
		Operation receive = this.matching.receiveFor(peer.peer, tag);
		if (receive != null) {
			answer(receive, peer, tag, type, bytes, id);
			return;
		}
		Parcel parcel = this.shelves.take(0);
		parcel.set(peer.peer, tag, type, bytes);
		parcel.announced = true;
		parcel.id = id;
		this.matching.add(parcel);
	}

	private void pulled(Correspondent peer, long id) throws IOException {
		Operation send = known(peer.announced(id), id);
		Letter letter = letter(Frame.DATA, send.type, send.bytes, send.tag, id);
		letter.address = send.address;
		letter.body = send.bytes;
		letter.operation = send;
		post(peer, letter);
	}

	private static void data(Inbox inbox, Operation receive, long bytes) throws IOException {
		if (bytes != receive.foundBytes) {
			throw new IOException(
					"the stream is out of step: " + bytes + " bytes of a message of " + receive.foundBytes);
		}
		inbox.expect(receive.address, bytes, receive, null);
	}

	@Override
	public void body(Inbox inbox) {
		Operation receive = inbox.operation;
		Parcel parcel = inbox.parcel;
		inbox.operation = null;
		inbox.parcel = null;
		if (receive != null) {
			finish(receive);
		}
		if (parcel != null) {
			parcel.whole = true;
			Operation claimant = parcel.claimant;
			if (claimant != null) {
				hand(claimant, parcel.source, parcel.tag, parcel.type, parcel.bytes, parcel.address());
				this.shelves.giveBack(parcel);
			}
		}
	}

	private void finish(Operation operation) {
		Operation last = this.open.removeLast();
		if (last != operation) {
			this.open.set(operation.place, last);
			last.place = operation.place;
		}
		this.finished.accept(operation);
	}

	/** Fails everything; from now on no memory of a caller's is touched. */
	void end(RuntimeException why) {
		this.ended = true;
		this.matching.clear();
		this.shelves.clear();
		this.inboxes.clear();
		while (!this.open.isEmpty()) {
			Operation operation = this.open.removeLast();
			operation.failure = why;
			this.finished.accept(operation);
		}
	}

	/** Whether {@link #end} was called. */
	boolean ended() {
		return this.ended;
	}

}
