package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import java.util.function.Predicate;

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
	 * Most bytes that a round of progress writes, and most that it reads: more in one
	 * direction delay the other one.
	 */
	static final long ROUND_BYTES = 512 * 1024;

	private final Consumer<SendDescriptor> sent;

	private final BufferPool pool;

	private final EagerCredit credit;

	private final MemorySegment memory = Arena.ofAuto().allocate(Frame.BYTES + SMALL_BYTES, 64);

	/** The bytes to write next: a frame, or a part of what follows it. */
	private long start;

	private long end;

	/** Whether they follow the frame of the first descriptor. */
	private boolean inBody;

	/** Staging buffer of a send from the heap. */
	private @Nullable IncomingMessage staging;

	/** The descriptor that is being sent, once its frame is written. */
	private @Nullable SendDescriptor current;

	private final ArrayDeque<SendDescriptor> queue = new ArrayDeque<>();

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
		this.queue.add(descriptor);
	}

	/**
	 * Removes a descriptor that has not begun to be sent.
	 * @return {@code null} if there is none
	 */
	@Nullable SendDescriptor remove(Predicate<SendDescriptor> wanted) {
		for (SendDescriptor descriptor : this.queue) {
			if (descriptor != this.current && wanted.test(descriptor)) {
				this.queue.remove(descriptor);
				return descriptor;
			}
		}
		return null;
	}

	/** Whether such a descriptor waits to be sent. */
	boolean holds(Predicate<SendDescriptor> wanted) {
		return this.queue.stream().anyMatch(wanted);
	}

	/** The descriptor that has begun to be sent. */
	@Nullable SendDescriptor current() {
		return this.current;
	}

	/** The operation whose bytes are sent next, from its caller's buffer. */
	@Nullable MessageOperation sending() {
		SendDescriptor next = this.queue.peek();
		return (next != null) ? next.operation : null;
	}

	/**
	 * Sends as many bytes as the stream accepts now.
	 * @return whether anything was sent
	 */
	boolean pump() throws IOException {
		ByteStream open = this.stream;
		long left = ROUND_BYTES;
		SendDescriptor descriptor = this.queue.peek();
		while (open != null && descriptor != null && left > 0) {
			if (descriptor.operation != null) {
				descriptor.operation.requireOpenBuffer();
			}
			if (descriptor != this.current) {
				begin(descriptor, open);
			}
			long written = open.write(this.start, Math.min(this.end - this.start, left));
			this.start += written;
			left -= written;
			if (descriptor.operation != null) {
				descriptor.operation.movedBytes = Math.max(0,
						descriptor.bytes - descriptor.left - (this.end - this.start));
			}
			if (this.start == this.end) {
				advance(descriptor);
				descriptor = this.queue.peek();
			}
			else if (written == 0) {
				break;
			}
		}
		return left < ROUND_BYTES;
	}

	/** Writes the frame of a descriptor and the first bytes after it to memory. */
	private void begin(SendDescriptor descriptor, ByteStream open) {
		long frame = this.memory.address();
		Frame.write(frame, descriptor.kind, descriptor.type, descriptor.bytes, descriptor.tag, descriptor.id,
				this.credit.takeDue(),
				(descriptor.source != 0) ? open.reference(descriptor.source, descriptor.bytes) : 0);
		long along = Math.min(descriptor.left, Math.min(open.smallBytes(), SMALL_BYTES));
		descriptor.moveTo(frame + Frame.BYTES, along);
		this.start = frame;
		this.end = frame + Frame.BYTES + along;
		this.inBody = false;
		this.current = descriptor;
	}

	/** Goes on to the next bytes of a descriptor, or ends it. */
	private void advance(SendDescriptor descriptor) throws IOException {
		if (descriptor.left == 0) {
			if (descriptor.operation != null) {
				descriptor.operation.requireOpenBuffer();
			}
			finish(descriptor);
			return;
		}
		this.inBody = true;
		long bytes = descriptor.left;
		if (descriptor.heap() == null) {
			this.start = descriptor.address;
			descriptor.left = 0;
		}
		else {
			IncomingMessage buffer = this.staging;
			if (buffer == null) {
				buffer = this.pool.take(Math.min(bytes, BufferPool.LARGEST_BYTES));
				this.staging = buffer;
			}
			bytes = Math.min(bytes, buffer.capacity);
			descriptor.moveTo(buffer.address, bytes);
			this.start = buffer.address;
		}
		this.end = this.start + bytes;
	}

	private void finish(SendDescriptor descriptor) {
		this.current = null;
		this.queue.remove();
		giveBackStaging();
		this.sent.accept(descriptor);
	}

	private void giveBackStaging() {
		IncomingMessage buffer = this.staging;
		if (buffer != null) {
			this.staging = null;
			this.pool.giveBack(buffer);
		}
	}

	/** Copies the rest of a descriptor's bytes, so that its caller can return. */
	void keep(SendDescriptor descriptor, IncomingMessage copy) {
		long bytes = 0;
		if (descriptor == this.current && this.inBody) {
			bytes = this.end - this.start;
			NativeMemory.copy(this.start, copy.address, bytes);
			this.start = copy.address;
			this.end = this.start + bytes;
			giveBackStaging();
		}
		HeapTransfer.copy(descriptor.heap(), descriptor.address, null, copy.address + bytes, descriptor.left);
		descriptor.address = copy.address + bytes;
		descriptor.copy = copy;
	}

	/** Forgets all descriptors of a lost peer; their operations stay in flight. */
	void drop() {
		this.stream = null;
		for (SendDescriptor next = this.queue.peek(); next != null; next = this.queue.peek()) {
			next.operation = null;
			finish(next);
		}
	}

}
