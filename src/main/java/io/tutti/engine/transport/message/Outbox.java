package io.tutti.engine.transport.message;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.transport.Wire;
import org.jspecify.annotations.Nullable;

/**
 * What this rank tells one other, in order. A frame and the first bytes after it leave in
 * one write; the rest goes from the caller's memory with no copy.
 */
final class Outbox {

	/** Hears of letters that have left. */
	interface Listener {

		void sent(Letter letter);

	}

	/** Bytes that ride along with a frame, at most. */
	static final int SMALL_BYTES = 8 * 1024;

	private final Listener listener;

	private final MemorySegment memory = Arena.ofAuto().allocate(Frame.BYTES + SMALL_BYTES, 64);

	private final long out = this.memory.address();

	private int start;

	private int end;

	private long bodyAddress;

	private long bodyLeft;

	private @Nullable Letter current;

	private @Nullable Letter head;

	private @Nullable Letter tail;

	private @Nullable Wire wire;

	Outbox(Listener listener) {
		this.listener = listener;
	}

	void connect(Wire wire) {
		this.wire = wire;
	}

	boolean connected() {
		return this.wire != null;
	}

	void add(Letter letter) {
		letter.next = null;
		Letter last = this.tail;
		if (last == null) {
			this.head = letter;
		}
		else {
			last.next = letter;
		}
		this.tail = letter;
	}

	/**
	 * Sends what goes now.
	 * @return whether anything went
	 */
	boolean pump() throws IOException {
		Wire open = this.wire;
		boolean moved = false;
		while (open != null && (this.current != null || next(open.smallBytes()))) {
			long written = (this.start < this.end) ? open.write(this.out + this.start, this.end - this.start)
					: (this.bodyLeft > 0) ? open.write(this.bodyAddress, this.bodyLeft) : 0;
			if (this.start < this.end) {
				this.start += (int) written;
			}
			else {
				this.bodyAddress += written;
				this.bodyLeft -= written;
			}
			if (this.start == this.end && this.bodyLeft == 0) {
				finish();
				written = 1;
			}
			if (written == 0) {
				return moved;
			}
			moved = true;
		}
		return moved;
	}

	/** Takes up the next letter, with so many bytes of it in one go with its frame. */
	private boolean next(long smallBytes) {
		Letter letter = this.head;
		if (letter == null) {
			return false;
		}
		this.head = letter.next;
		if (this.head == null) {
			this.tail = null;
		}
		Frame.write(this.out, letter.kind, letter.type, letter.bytes, letter.tag, letter.id);
		long along = Math.min(letter.body, Math.min(smallBytes, SMALL_BYTES));
		if (along > 0) {
			NativeMemory.copy(letter.address, this.out + Frame.BYTES, along);
		}
		this.start = 0;
		this.end = Frame.BYTES + (int) along;
		this.bodyAddress = letter.address + along;
		this.bodyLeft = letter.body - along;
		this.current = letter;
		return true;
	}

	private void finish() {
		Letter letter = this.current;
		this.current = null;
		if (letter != null) {
			this.listener.sent(letter);
		}
	}

	/** Moves what is left of a letter's bytes into a parcel of its own. */
	void keep(Letter letter, Parcel parcel) {
		if (letter == this.current) {
			NativeMemory.copy(this.bodyAddress, parcel.address(), this.bodyLeft);
			this.bodyAddress = parcel.address();
		}
		else if (letter.body > 0) {
			NativeMemory.copy(letter.address, parcel.address(), letter.body);
			letter.address = parcel.address();
		}
		letter.parcel = parcel;
	}

	/** Forgets all letters, since nobody will get them: what waits for them waits on. */
	void drop() {
		do {
			Letter letter = this.current;
			if (letter != null) {
				letter.operation = null;
				finish();
			}
		}
		while (next(0));
		this.start = this.end;
		this.bodyLeft = 0;
		this.wire = null;
	}

}
