package io.tutti.engine.transport.shm;

import io.tutti.engine.spi.Fingerprint;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.CallContext;
import io.tutti.engine.transport.CallWait;
import io.tutti.engine.transport.Link;

/**
 * A link over two rings, one per direction. Received data can be read in place. A call
 * begins with its fingerprint at the next multiple of {@value #OPENING_BYTES} bytes, so
 * that no element wraps around the end of a ring.
 */
final class RingLink implements Link {

	/** Bytes that a fingerprint occupies in a ring. */
	private static final int OPENING_BYTES = 64;

	private final int peer;

	private final CallContext context;

	private final Doorbell doorbell;

	private final Ring out;

	private final Ring in;

	private long fingerprintSentFor = -1;

	private long fingerprintReadFor = -1;

	private boolean blockedReading;

	private boolean blockedWriting;

	/** Bytes moved in this call. */
	private long receivedBytes;

	private long sentBytes;

	RingLink(int peer, CallContext context, HostMemory memory, Doorbell doorbell) {
		this.peer = peer;
		this.context = context;
		this.doorbell = doorbell;
		HostLayout layout = memory.layout();
		this.out = Ring.writer(layout.ring(memory.self(), peer), layout.ringBytes());
		this.in = Ring.reader(layout.ring(peer, memory.self()), layout.ringBytes());
	}

	/**
	 * Whether the last attempt to receive found no data or the last attempt to send found
	 * no room.
	 */
	boolean blocked() {
		return this.blockedReading || this.blockedWriting;
	}

	/** Resets the blocked state and the byte counts of the previous call. */
	void unblock() {
		this.blockedReading = false;
		this.blockedWriting = false;
		this.receivedBytes = 0;
		this.sentBytes = 0;
	}

	/** The data exchanged with the peer in this call. */
	CallWait.Moved moved() {
		long turn = this.context.turn();
		return new CallWait.Moved((this.fingerprintReadFor == turn) ? this.receivedBytes : 0,
				(this.fingerprintSentFor == turn) ? this.sentBytes : 0);
	}

	@Override
	public long send(long address, long bytes) {
		if (!open()) {
			return 0;
		}
		long sent = 0;
		while (sent < bytes) {
			long count = this.out.put(address + sent, bytes - sent);
			if (count == 0) {
				break;
			}
			sent += count;
			this.doorbell.ring(this.peer);
		}
		this.blockedWriting = (sent == 0 && bytes > 0);
		this.sentBytes += sent;
		return sent;
	}

	/** Always {@code true}: bytes in the ring are visible to the peer. */
	@Override
	public boolean flush() {
		return true;
	}

	@Override
	public boolean sendFingerprint() {
		return open();
	}

	private boolean open() {
		if (this.fingerprintSentFor == this.context.turn()) {
			return true;
		}
		this.out.align(OPENING_BYTES);
		if (this.out.available(OPENING_BYTES) < OPENING_BYTES) {
			this.blockedWriting = true;
			return false;
		}
		NativeMemory.copy(this.context.fingerprint(), this.out.address(), Fingerprint.BYTES);
		this.out.advance(OPENING_BYTES);
		this.doorbell.ring(this.peer);
		this.blockedWriting = false;
		this.fingerprintSentFor = this.context.turn();
		return true;
	}

	@Override
	public boolean fingerprintReceived() {
		if (this.fingerprintReadFor == this.context.turn()) {
			return true;
		}
		this.in.align(OPENING_BYTES);
		if (this.in.available(OPENING_BYTES) < OPENING_BYTES) {
			this.blockedReading = true;
			return false;
		}
		if (!Fingerprint.same(this.context.fingerprint(), this.in.address())) {
			throw this.context.mismatch(this.peer, this.in.address());
		}
		this.in.advance(OPENING_BYTES);
		this.blockedReading = false;
		this.fingerprintReadFor = this.context.turn();
		return true;
	}

	@Override
	public long receive(long address, long bytes) {
		if (!fingerprintReceived()) {
			return 0;
		}
		long received = 0;
		while (received < bytes) {
			long count = this.in.take(address + received, bytes - received);
			if (count == 0) {
				break;
			}
			received += count;
			this.doorbell.ring(this.peer);
		}
		this.blockedReading = (received == 0 && bytes > 0);
		this.receivedBytes += received;
		return received;
	}

	@Override
	public long readable(long wantedBytes) {
		if (!fingerprintReceived()) {
			return 0;
		}
		long count = this.in.available(wantedBytes);
		this.blockedReading = (count == 0 && wantedBytes > 0);
		return count;
	}

	@Override
	public long readAddress() {
		return this.in.address();
	}

	@Override
	public void consume(long bytes) {
		this.in.advance(bytes);
		this.receivedBytes += bytes;
		this.doorbell.ring(this.peer);
	}

}
