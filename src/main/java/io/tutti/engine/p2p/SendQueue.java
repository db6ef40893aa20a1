package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * The frames for one other rank, in order. A frame and the first bytes after it are sent
 * in one write. The rest is sent from the caller's memory with no copy, or, from a heap
 * buffer, through a staging buffer.
 */
final class SendQueue {

	/** Most bytes that are copied and sent in one write with their frame. */
	static final int SMALL_BYTES = 8 * 1024;

	/**
	 * Bytes after which a round of progress ends although more could be sent: deadline,
	 * failure and interrupt are checked between rounds.
	 */
	static final long ROUND_BYTES = 4 * 1024 * 1024;

	private final Consumer<SendDescriptor> sent;

	private final BufferPool pool;

	private final EagerCredit credit;

	private final MemorySegment memory = Arena.ofAuto().allocate(Frame.BYTES + SMALL_BYTES, 64);

	private final long out = this.memory.address();

	private int start;

	private int end;

	private long bodyAddress;

	private long bodyLeft;

	/** Bytes in a heap buffer that follow those, and their offset. */
	private long heapLeft;

	private long heapOffset;

	/** Staging buffer of a send from the heap. */
	private @Nullable UnexpectedMessage staging;

	private @Nullable SendDescriptor current;

	private @Nullable SendDescriptor head;

	private @Nullable SendDescriptor tail;

	private @Nullable ByteStream stream;

	/**
	 * @param sent is called with each descriptor whose bytes are sent
	 * @param pool holds staging buffers
	 * @param credit is returned to the peer with the frames
	 */
	SendQueue(Consumer<SendDescriptor> sent, BufferPool pool, EagerCredit credit) {
		this.sent = sent;
		this.pool = pool;
		this.credit = credit;
	}

	void connect(ByteStream stream) {
		this.stream = stream;
	}

	boolean connected() {
		return this.stream != null;
	}

	void add(SendDescriptor descriptor) {
		descriptor.next = null;
		SendDescriptor last = this.tail;
		if (last == null) {
			this.head = descriptor;
		}
		else {
			last.next = descriptor;
		}
		this.tail = descriptor;
	}

	/** Whether nothing waits to be sent. */
	boolean isEmpty() {
		return this.current == null && this.head == null;
	}

	/** How many bytes of a send are sent, while it is being sent. */
	long movedBytes(MessageOperation send) {
		SendDescriptor descriptor = this.current;
		if (descriptor == null || descriptor.operation != send) {
			return 0;
		}
		return Math.max(0, descriptor.body - this.bodyLeft - this.heapLeft - (this.end - this.start));
	}

	/**
	 * Sends as many bytes as the stream accepts now.
	 * @return whether anything was sent
	 */
	boolean pump() throws IOException {
		ByteStream open = this.stream;
		long left = ROUND_BYTES;
		while (open != null && left > 0 && hasCurrent(open.smallBytes())) {
			long written = (this.start < this.end) ? open.write(this.out + this.start, this.end - this.start)
					: (this.bodyLeft > 0) ? open.write(this.bodyAddress, Math.min(this.bodyLeft, left)) : 0;
			if (this.start < this.end) {
				this.start += (int) written;
			}
			else {
				this.bodyAddress += written;
				this.bodyLeft -= written;
			}
			if (this.start == this.end && this.bodyLeft == 0) {
				if (this.heapLeft > 0) {
					stageNext();
				}
				else {
					finish();
				}
				written = Math.max(1, written);
			}
			if (written == 0) {
				break;
			}
			left -= written;
		}
		return left < ROUND_BYTES;
	}

	private boolean hasCurrent(long smallBytes) throws IOException {
		MessageOperation sending = sending();
		if (sending != null) {
			sending.requireOpenBuffer();
		}
		return this.current != null || next(smallBytes);
	}

	/** The operation whose bytes are sent next, from its caller's buffer. */
	@Nullable MessageOperation sending() {
		SendDescriptor descriptor = (this.current != null) ? this.current : this.head;
		return (descriptor != null) ? descriptor.operation : null;
	}

	/**
	 * Begins the next descriptor, with up to so many bytes in one write with its frame.
	 */
	private boolean next(long smallBytes) {
		ByteStream open = this.stream;
		SendDescriptor descriptor = this.head;
		if (descriptor == null) {
			return false;
		}
		this.head = descriptor.next;
		if (this.head == null) {
			this.tail = null;
		}
		Frame.write(this.out, descriptor.kind, descriptor.type, descriptor.bytes, descriptor.tag, descriptor.id,
				this.credit.takeDue(),
				(open != null && descriptor.source != 0) ? open.reference(descriptor.source, descriptor.bytes) : 0);
		long along = Math.min(descriptor.body, Math.min(smallBytes, SMALL_BYTES));
		if (along > 0) {
			HeapTransfer.copy(descriptor.heap, descriptor.address, null, this.out + Frame.BYTES, along);
		}
		this.start = 0;
		this.end = Frame.BYTES + (int) along;
		boolean onHeap = descriptor.heap != null;
		this.bodyAddress = onHeap ? 0 : descriptor.address + along;
		this.bodyLeft = onHeap ? 0 : descriptor.body - along;
		this.heapOffset = onHeap ? descriptor.address + along : 0;
		this.heapLeft = onHeap ? descriptor.body - along : 0;
		this.current = descriptor;
		return true;
	}

	/** Copies the next bytes from the heap to the staging buffer. */
	private void stageNext() {
		UnexpectedMessage buffer = this.staging;
		if (buffer == null) {
			buffer = this.pool.take(Math.min(this.heapLeft, BufferPool.LARGEST_BYTES));
			this.staging = buffer;
		}
		this.bodyAddress = buffer.address();
		this.bodyLeft = copyFromHeap(buffer.address(), Math.min(this.heapLeft, buffer.capacity()));
	}

	private long copyFromHeap(long address, long bytes) {
		SendDescriptor descriptor = this.current;
		if (descriptor != null && bytes > 0) {
			HeapTransfer.copy(descriptor.heap, this.heapOffset, null, address, bytes);
			this.heapOffset += bytes;
			this.heapLeft -= bytes;
		}
		return bytes;
	}

	private void giveBackStaging() {
		UnexpectedMessage buffer = this.staging;
		if (buffer != null) {
			this.staging = null;
			this.pool.giveBack(buffer);
		}
	}

	private void finish() {
		SendDescriptor descriptor = this.current;
		this.current = null;
		giveBackStaging();
		if (descriptor != null) {
			this.sent.accept(descriptor);
		}
	}

	/** Copies the rest of a descriptor's bytes, so that its caller can return. */
	void keep(SendDescriptor descriptor, UnexpectedMessage copy) {
		if (descriptor == this.current) {
			NativeMemory.copy(this.bodyAddress, copy.address(), this.bodyLeft);
			this.bodyLeft += copyFromHeap(copy.address() + this.bodyLeft, this.heapLeft);
			this.bodyAddress = copy.address();
			giveBackStaging();
		}
		else if (descriptor.body > 0) {
			HeapTransfer.copy(descriptor.heap, descriptor.address, null, copy.address(), descriptor.body);
			descriptor.address = copy.address();
		}
		descriptor.heap = null;
		descriptor.copy = copy;
	}

	/** Forgets all descriptors of a lost peer; their operations stay in flight. */
	void drop() {
		do {
			SendDescriptor descriptor = this.current;
			if (descriptor != null) {
				descriptor.operation = null;
				finish();
			}
		}
		while (next(0));
		this.start = this.end;
		this.bodyLeft = 0;
		this.heapLeft = 0;
		this.stream = null;
	}

}
