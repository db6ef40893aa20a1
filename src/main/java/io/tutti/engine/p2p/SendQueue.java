package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * What this rank tells one other, in order. A frame and the first bytes after it leave in
 * one write; the rest goes from the caller's memory with no copy, unless that is on the
 * heap: then it goes piece by piece through a parcel.
 */
final class SendQueue {

	/** Hears of letters that have left. */
	interface Listener {

		void sent(SendDescriptor letter);

	}

	/** Bytes that ride along with a frame, at most. */
	static final int SMALL_BYTES = 8 * 1024;

	private final Listener listener;

	private final BufferPool shelves;

	private final MemorySegment memory = Arena.ofAuto().allocate(Frame.BYTES + SMALL_BYTES, 64);

	private final long out = this.memory.address();

	private int start;

	private int end;

	private long bodyAddress;

	private long bodyLeft;

	/** Bytes on the heap that follow those, and where. */
	private long heapLeft;

	private long heapOffset;

	/** What they pass through. */
	private @Nullable UnexpectedMessage stage;

	private @Nullable SendDescriptor current;

	private @Nullable SendDescriptor head;

	private @Nullable SendDescriptor tail;

	private @Nullable ByteStream wire;

	/**
	 * @param shelves hold what the bytes of buffers on the heap pass through
	 */
	SendQueue(Listener listener, BufferPool shelves) {
		this.listener = listener;
		this.shelves = shelves;
	}

	void connect(ByteStream wire) {
		this.wire = wire;
	}

	boolean connected() {
		return this.wire != null;
	}

	void add(SendDescriptor letter) {
		letter.next = null;
		SendDescriptor last = this.tail;
		if (last == null) {
			this.head = letter;
		}
		else {
			last.next = letter;
		}
		this.tail = letter;
	}

	/** Whether nothing waits to be sent. */
	boolean isEmpty() {
		return this.current == null && this.head == null;
	}

	/** How many bytes of a send have left, while they leave. */
	long movedBytes(Operation send) {
		SendDescriptor letter = this.current;
		if (letter == null || letter.operation != send) {
			return 0;
		}
		return Math.max(0, letter.body - this.bodyLeft - this.heapLeft - (this.end - this.start));
	}

	/**
	 * Sends what goes now.
	 * @return whether anything went
	 */
	boolean pump() throws IOException {
		ByteStream open = this.wire;
		boolean moved = false;
		while (open != null && hasLetter(open.smallBytes())) {
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
				if (this.heapLeft > 0) {
					stageMore();
				}
				else {
					finish();
				}
				written = 1;
			}
			if (written == 0) {
				return moved;
			}
			moved = true;
		}
		return moved;
	}

	private boolean hasLetter(long smallBytes) throws IOException {
		Operation sent = sent();
		if (sent != null) {
			sent.requireOpenBuffer();
		}
		return this.current != null || next(smallBytes);
	}

	/** The operation whose bytes go now, from its caller's buffer. */
	@Nullable Operation sent() {
		SendDescriptor letter = (this.current != null) ? this.current : this.head;
		return (letter != null) ? letter.operation : null;
	}

	/** Takes up the next letter, with so many bytes of it in one go with its frame. */
	private boolean next(long smallBytes) {
		SendDescriptor letter = this.head;
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
			BufferCopy.copy(letter.heap, letter.address, null, this.out + Frame.BYTES, along);
		}
		this.start = 0;
		this.end = Frame.BYTES + (int) along;
		boolean onHeap = letter.heap != null;
		this.bodyAddress = onHeap ? 0 : letter.address + along;
		this.bodyLeft = onHeap ? 0 : letter.body - along;
		this.heapOffset = onHeap ? letter.address + along : 0;
		this.heapLeft = onHeap ? letter.body - along : 0;
		this.current = letter;
		return true;
	}

	/** Brings the next bytes from the heap to where they can be written. */
	private void stageMore() {
		UnexpectedMessage piece = this.stage;
		if (piece == null) {
			piece = this.shelves.take(Math.min(this.heapLeft, BufferPool.LARGEST_BYTES));
			this.stage = piece;
		}
		this.bodyAddress = piece.address();
		this.bodyLeft = takeFromHeap(piece.address(), Math.min(this.heapLeft, piece.capacity()));
	}

	private long takeFromHeap(long address, long bytes) {
		SendDescriptor letter = this.current;
		if (letter != null && bytes > 0) {
			BufferCopy.copy(letter.heap, this.heapOffset, null, address, bytes);
			this.heapOffset += bytes;
			this.heapLeft -= bytes;
		}
		return bytes;
	}

	private void giveBackStage() {
		UnexpectedMessage piece = this.stage;
		if (piece != null) {
			this.stage = null;
			this.shelves.giveBack(piece);
		}
	}

	private void finish() {
		SendDescriptor letter = this.current;
		this.current = null;
		giveBackStage();
		if (letter != null) {
			this.listener.sent(letter);
		}
	}

	/** Moves what is left of a letter's bytes into a parcel of its own. */
	void keep(SendDescriptor letter, UnexpectedMessage parcel) {
		if (letter == this.current) {
			NativeMemory.copy(this.bodyAddress, parcel.address(), this.bodyLeft);
			this.bodyLeft += takeFromHeap(parcel.address() + this.bodyLeft, this.heapLeft);
			this.bodyAddress = parcel.address();
			giveBackStage();
		}
		else if (letter.body > 0) {
			BufferCopy.copy(letter.heap, letter.address, null, parcel.address(), letter.body);
			letter.address = parcel.address();
		}
		letter.heap = null;
		letter.parcel = parcel;
	}

	/** Forgets all letters, since nobody will get them: what waits for them waits on. */
	void drop() {
		do {
			SendDescriptor letter = this.current;
			if (letter != null) {
				letter.operation = null;
				finish();
			}
		}
		while (next(0));
		this.start = this.end;
		this.bodyLeft = 0;
		this.heapLeft = 0;
		this.wire = null;
	}

}
