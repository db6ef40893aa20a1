package io.tutti.engine.p2p;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.NativeMemory;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * What comes over one connection: frames, and the bytes after them, which go to where the
 * frame's reader said. A frame and the first bytes after it are taken up in one read.
 */
final class FrameReader {

	/** Reads frames. */
	interface Reader {

		/**
		 * A frame has come; if bytes follow, {@link FrameReader#expect} must be called.
		 * @param frame address of the frame, valid during the call
		 * @return whether it was taken; if not, it is shown again later, and nothing more
		 * is read before
		 */
		boolean frame(FrameReader inbox, long frame) throws IOException;

		/** The bytes after the last frame are all there. */
		void body(FrameReader inbox);

	}

	private final int peer;

	private final ByteStream wire;

	private final HeapStage heapStage;

	private final int capacity;

	private final MemorySegment memory;

	private final long in;

	private int start;

	private int end;

	private @Nullable MemorySegment targetHeap;

	private long target;

	private long left;

	/** What the bytes that are coming are for: one of the two. */
	@Nullable Operation operation;

	@Nullable UnexpectedMessage parcel;

	private boolean inBody;

	private boolean halted;

	/**
	 * @param heapStage where bytes for buffers on the heap pass through
	 */
	FrameReader(int peer, ByteStream wire, HeapStage heapStage) {
		this.peer = peer;
		this.wire = wire;
		this.heapStage = heapStage;
		this.capacity = Frame.BYTES + Math.min(wire.smallBytes(), SendQueue.SMALL_BYTES);
		this.memory = Arena.ofAuto().allocate(this.capacity, 64);
		this.in = this.memory.address();
	}

	/** The rank of the group at the other end. */
	int peer() {
		return this.peer;
	}

	/** Whether the last frame that has come was not taken. */
	boolean halted() {
		return this.halted;
	}

	/** How many bytes have come for a receive, while they come. */
	long movedBytes(Operation receive) {
		return (this.operation == receive) ? receive.foundBytes - this.left : 0;
	}

	/** Says where the bytes after the frame go, and what they are for. */
	void expect(long address, long bytes, @Nullable Operation forOperation, @Nullable UnexpectedMessage forParcel) {
		this.targetHeap = (forOperation != null) ? forOperation.heap : null;
		this.target = address;
		this.left = bytes;
		this.operation = forOperation;
		this.parcel = forParcel;
		this.inBody = true;
	}

	/**
	 * Takes in what has come, one message at most.
	 * @return whether anything came
	 */
	boolean pump(Reader reader) throws IOException {
		boolean moved = false;
		while (true) {
			if (this.inBody) {
				if (this.left > 0 && !takeBody()) {
					return moved;
				}
				moved = true;
				if (this.left == 0) {
					this.inBody = false;
					this.targetHeap = null;
					reader.body(this);
					return true;
				}
			}
			else if (this.end - this.start >= Frame.BYTES) {
				if (!takeFrame(reader)) {
					return moved;
				}
				moved = true;
				if (!this.inBody) {
					return true;
				}
			}
			else if (!takeUp()) {
				return moved;
			}
		}
	}

	private boolean takeBody() throws IOException {
		if (this.operation != null) {
			this.operation.requireOpenBuffer();
		}
		int held = this.end - this.start;
		MemorySegment heap = this.targetHeap;
		if (held == 0) {
			long got = (heap != null) ? this.heapStage.read(this.wire, heap, this.target, this.left)
					: this.wire.read(this.target, this.left);
			this.target += got;
			this.left -= got;
			return got > 0;
		}
		long copied = Math.min(held, this.left);
		BufferCopy.copy(null, this.in + this.start, heap, this.target, copied);
		this.start += (int) copied;
		this.target += copied;
		this.left -= copied;
		return true;
	}

	private boolean takeFrame(Reader reader) throws IOException {
		long frame = this.in + this.start;
		if (!Frame.isSound(frame)) {
			throw new IOException("the stream is out of step: these bytes are no frame");
		}
		this.start += Frame.BYTES;
		boolean taken = reader.frame(this, frame);
		if (!taken) {
			this.start -= Frame.BYTES;
		}
		if (taken == this.halted) {
			this.halted = !taken;
			this.wire.pauseReading(this.halted);
		}
		return taken;
	}

	private boolean takeUp() throws IOException {
		int held = this.end - this.start;
		if (held > 0 && this.start > 0) {
			NativeMemory.copy(this.in + this.start, this.in, held);
		}
		this.start = 0;
		this.end = held;
		long got = this.wire.read(this.in + held, this.capacity - held);
		this.end += (int) got;
		return got > 0;
	}

}
