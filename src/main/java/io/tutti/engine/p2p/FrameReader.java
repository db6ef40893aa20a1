package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * Receives frames over one connection, and the bytes after them into the memory that the
 * frame's handler sets. A frame and the first bytes after it are received in one read.
 */
final class FrameReader {

	/** Handles frames. */
	interface Handler {

		/**
		 * Handles a frame; calls {@link FrameReader#expect} if bytes follow.
		 * @param frame address of the frame, valid during the call
		 */
		void frame(FrameReader reader, long frame) throws IOException;

		/** The bytes after the last frame are complete. */
		void body(IncomingMessage message);

	}

	private final int peer;

	private final ByteStream stream;

	private final BufferPool pool;

	private final int capacity;

	private final MemorySegment memory;

	private final long in;

	private int start;

	private int end;

	private boolean delivered;

	/** For an eager message that goes straight to its receive: one at a time does. */
	final IncomingMessage direct = new IncomingMessage(0, false);

	/** The message whose bytes follow, if any. */
	private @Nullable IncomingMessage message;

	/** Where the next of them goes: an address, or an offset in a heap buffer. */
	private long target;

	private long left;

	/**
	 * @param pool holds staging buffers
	 */
	FrameReader(int peer, ByteStream stream, BufferPool pool) {
		this.peer = peer;
		this.stream = stream;
		this.pool = pool;
		this.capacity = Frame.BYTES + Math.min(stream.smallBytes(), SendQueue.SMALL_BYTES);
		this.memory = Arena.ofAuto().allocate(this.capacity, 64);
		this.in = this.memory.address();
	}

	/** The rank of the group at the other end. */
	int peer() {
		return this.peer;
	}

	/** Whether a frame has arrived: the peer sends all on one connection. */
	boolean delivered() {
		return this.delivered;
	}

	/** Receives nothing more. */
	void end() {
		this.stream.endInput();
	}

	/** The receive to whose buffer bytes follow, if any. */
	@Nullable MessageOperation receiver() {
		return (this.message != null) ? this.message.receiver() : null;
	}

	/** The bytes of a message follow the frame. */
	void expect(IncomingMessage message) {
		MessageOperation receive = message.receiver();
		this.message = message;
		this.target = (receive != null) ? receive.address : message.address;
		this.left = message.bytes;
	}

	/**
	 * Receives the bytes that have arrived, of at most one message.
	 * @return whether anything arrived
	 */
	boolean pump(Handler handler) throws IOException {
		boolean moved = false;
		long most = SendQueue.ROUND_BYTES;
		while (true) {
			IncomingMessage arriving = this.message;
			if (arriving != null) {
				long got = readBody(arriving.receiver(), most);
				most -= got;
				moved |= got > 0;
				if (this.left == 0) {
					this.message = null;
					handler.body(arriving);
					return true;
				}
				if (got == 0 || most == 0) {
					return moved;
				}
			}
			else if (this.end - this.start >= Frame.BYTES) {
				readFrame(handler);
				moved = true;
				if (this.message == null) {
					return true;
				}
			}
			else if (!fill()) {
				return moved;
			}
		}
	}

	private long readBody(@Nullable MessageOperation receive, long most) throws IOException {
		if (receive != null && this.left > 0) {
			receive.requireOpenBuffer();
		}
		MemorySegment heap = (receive != null) ? receive.heap : null;
		int held = this.end - this.start;
		long got = Math.min(this.left, (held > 0) ? Math.min(held, most) : most);
		if (held > 0) {
			HeapTransfer.copy(null, this.in + this.start, heap, this.target, got);
			this.start += (int) got;
		}
		else if (got > 0) {
			got = (heap != null) ? readToHeap(heap, got) : this.stream.read(this.target, got);
		}
		this.target += got;
		this.left -= got;
		if (receive != null) {
			receive.movedBytes += got;
			if (got > 0 && this.left == 0) {
				receive.requireOpenBuffer();
			}
		}
		return got;
	}

	private long readToHeap(MemorySegment heap, long most) throws IOException {
		IncomingMessage staging = this.pool.take(BufferPool.LARGEST_BYTES);
		long got = this.stream.read(staging.address, Math.min(most, staging.capacity));
		HeapTransfer.copy(null, staging.address, heap, this.target, got);
		this.pool.giveBack(staging);
		return got;
	}

	private void readFrame(Handler handler) throws IOException {
		long frame = this.in + this.start;
		if (!Frame.isSound(frame)) {
			throw new IOException("the stream is out of sync: these bytes are not a frame");
		}
		this.start += Frame.BYTES;
		this.delivered = true;
		handler.frame(this, frame);
	}

	private boolean fill() throws IOException {
		int held = this.end - this.start;
		if (held > 0 && this.start > 0) {
			NativeMemory.copy(this.in + this.start, this.in, held);
		}
		this.start = 0;
		this.end = held;
		long got = this.stream.read(this.in + held, this.capacity - held);
		this.end += (int) got;
		return got > 0;
	}

}
