package io.tutti.engine.transport;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.spi.Fingerprint;
import io.tutti.engine.spi.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * A link over a {@link ByteStream}. A call's fingerprint and its first bytes are sent in
 * one write and received in one read, so that a small call costs one system call in each
 * direction. Later bytes move between the stream and the caller's memory without a copy.
 */
public final class StreamLink implements Link {

	/**
	 * Bytes sent together with a fingerprint. Copying more would cost measurable time.
	 */
	private static final int SMALL_BYTES = 32 * 1024;

	/**
	 * Receive buffer of a reduction: takes in what one write of the peer sends, and still
	 * fits the second-level cache beside the result.
	 */
	private static final int LARGE_BYTES = 512 * 1024;

	private static final long ALIGNMENT = 64;

	private final int peer;

	private final CallContext context;

	private final Arena arena;

	private final long out;

	private int outStart;

	private int outEnd;

	private long sentFor = -1;

	private long in;

	private int inCapacity = SMALL_BYTES;

	private int inStart;

	private int inEnd;

	private long fingerprintReadFor = -1;

	private boolean blockedReading;

	private boolean blockedWriting;

	/** Bytes of this call, with the fingerprint. */
	private long receivedBytes;

	private long sentBytes;

	private @Nullable ByteStream stream;

	/** A link that is not connected yet. */
	public StreamLink(int peer, CallContext context, Arena arena) {
		this.peer = peer;
		this.context = context;
		this.arena = arena;
		this.out = arena.allocate(Fingerprint.BYTES + SMALL_BYTES, ALIGNMENT).address();
		this.in = arena.allocate(SMALL_BYTES, ALIGNMENT).address();
	}

	/** Connects the link. */
	public void connect(ByteStream stream) {
		this.stream = stream;
	}

	/** Whether the link is connected. */
	public boolean connected() {
		return this.stream != null;
	}

	/** The rank of the group at the other end. */
	public int peer() {
		return this.peer;
	}

	/** Whether the last read returned no bytes. */
	public boolean blockedReading() {
		return this.blockedReading;
	}

	/** Whether the last write accepted no bytes. */
	public boolean blockedWriting() {
		return this.blockedWriting;
	}

	/** Resets the state and byte counts of earlier calls. */
	public void unblock() {
		this.blockedReading = false;
		this.blockedWriting = false;
		this.receivedBytes = 0;
		this.sentBytes = 0;
	}

	/** The data exchanged with the peer in this call. */
	public CallWait.Moved moved() {
		return new CallWait.Moved(Math.max(0, this.receivedBytes - Fingerprint.BYTES),
				Math.max(0, this.sentBytes - Fingerprint.BYTES));
	}

	@Override
	public long send(long address, long bytes) {
		long accepted = 0;
		if (this.sentFor != this.context.turn()) {
			accepted = Math.min(bytes, SMALL_BYTES);
			queueFingerprint(address, accepted);
		}
		if (!drain() || accepted == bytes) {
			return accepted;
		}
		return accepted + write(address + accepted, bytes - accepted);
	}

	@Override
	public boolean flush() {
		return drain();
	}

	@Override
	public boolean sendFingerprint() {
		if (this.sentFor != this.context.turn()) {
			queueFingerprint(0, 0);
		}
		return drain();
	}

	private void queueFingerprint(long address, long bytes) {
		this.sentFor = this.context.turn();
		NativeMemory.copy(this.context.fingerprint(), this.out, Fingerprint.BYTES);
		if (bytes > 0) {
			NativeMemory.copy(address, this.out + Fingerprint.BYTES, bytes);
		}
		this.outStart = 0;
		this.outEnd = Fingerprint.BYTES + (int) bytes;
	}

	private boolean drain() {
		while (this.outStart < this.outEnd) {
			long written = write(this.out + this.outStart, this.outEnd - this.outStart);
			if (written == 0) {
				return false;
			}
			this.outStart += (int) written;
		}
		return true;
	}

	private long write(long address, long bytes) {
		ByteStream open = this.stream;
		long written = 0;
		if (open != null) {
			try {
				written = open.write(address, bytes);
			}
			catch (IOException ex) {
				throw this.context.lost(this.peer, "sending to it failed (" + ex.getMessage() + ")", ex);
			}
		}
		this.blockedWriting = (written == 0);
		this.sentBytes += written;
		return written;
	}

	@Override
	public boolean fingerprintReceived() {
		if (this.fingerprintReadFor == this.context.turn()) {
			return true;
		}
		if (this.inEnd - this.inStart < Fingerprint.BYTES) {
			fill(SMALL_BYTES);
			if (this.inEnd - this.inStart < Fingerprint.BYTES) {
				return false;
			}
		}
		if (!Fingerprint.same(this.context.fingerprint(), this.in + this.inStart)) {
			throw this.context.mismatch(this.peer, this.in + this.inStart);
		}
		this.inStart += Fingerprint.BYTES;
		this.fingerprintReadFor = this.context.turn();
		return true;
	}

	@Override
	public long receive(long address, long bytes) {
		if (!fingerprintReceived()) {
			return 0;
		}
		int held = this.inEnd - this.inStart;
		if (held == 0) {
			return read(address, bytes);
		}
		long copied = Math.min(held, bytes);
		NativeMemory.copy(this.in + this.inStart, address, copied);
		this.inStart += (int) copied;
		return copied;
	}

	@Override
	public long readable(long wantedBytes) {
		if (!fingerprintReceived()) {
			return 0;
		}
		int held = this.inEnd - this.inStart;
		if (held < wantedBytes && held < 4 * 1024) {
			if (wantedBytes > this.inCapacity && this.inCapacity < LARGE_BYTES) {
				grow();
			}
			fill(wantedBytes - held);
		}
		return Math.min(this.inEnd - this.inStart, wantedBytes);
	}

	@Override
	public long readAddress() {
		return this.in + this.inStart;
	}

	@Override
	public void consume(long bytes) {
		this.inStart += (int) bytes;
	}

	private void fill(long wantedBytes) {
		int held = this.inEnd - this.inStart;
		if (this.inStart > 0) {
			NativeMemory.copy(this.in + this.inStart, this.in, held);
			this.inStart = 0;
			this.inEnd = held;
		}
		this.inEnd += (int) read(this.in + held, Math.min(wantedBytes, this.inCapacity - held));
	}

	private void grow() {
		MemorySegment larger = this.arena.allocate(LARGE_BYTES, ALIGNMENT);
		int held = this.inEnd - this.inStart;
		NativeMemory.copy(this.in + this.inStart, larger.address(), held);
		this.in = larger.address();
		this.inCapacity = LARGE_BYTES;
		this.inStart = 0;
		this.inEnd = held;
	}

	private long read(long address, long bytes) {
		ByteStream open = this.stream;
		long got = 0;
		if (open != null) {
			try {
				got = open.read(address, bytes);
			}
			catch (IOException ex) {
				throw this.context.lost(this.peer, "its data connection ended (" + ex.getMessage() + ")", ex);
			}
		}
		this.blockedReading = (got == 0);
		this.receivedBytes += got;
		return got;
	}

}
