package io.tutti.engine.transport.shm;

import java.io.EOFException;
import java.io.IOException;

import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * A byte stream for messages over two rings, one per direction. Detects a peer that has
 * left, but not one that has died.
 */
final class RingStream implements ByteStream {

	/**
	 * Largest payload that is copied next to its frame: larger copies touch more cache
	 * lines than they save.
	 */
	private static final int SMALL_BYTES = 1024;

	/**
	 * Largest eager message where ranks share cores, if the ring holds all of it: asking
	 * its receiver costs context switches, which take longer than a second copy.
	 */
	private static final int SHARED_CORES_EAGER_BYTES = 128 * 1024;

	/** Messages sent since one was measured from which on a choice is outdated. */
	private static final int MAX_SENT = 256;

	private final int peer;

	private final HostMemory memory;

	private final Doorbell doorbell;

	private final RecordRing out;

	private final RecordRing in;

	/** The peer's counter of ranks that have sent it a first message. */
	private final long peerCalls;

	/** The peer's flag that it has left. */
	private final long peerLeft;

	private final ReadableProcess peerProcess;

	/** Reads the peer's private memory; {@code null} if it may not be read. */
	private final @Nullable CrossMemoryAttach attach;

	/**
	 * Largest message of private memory for which this rank chooses how it is moved; all
	 * others are read. The lower of the two ranks chooses for both directions, since a
	 * rank that reads cannot send meanwhile, and measures what it receives.
	 */
	private final long chosenBytes;

	/** Its choices, by the number of bits of the size; none if it chooses nothing. */
	private final @Nullable MessageChoice[] choices;

	private final int eagerBytes;

	/** When the last large message has arrived. */
	private long arrivedNanos = System.nanoTime();

	private boolean called;

	private boolean blockedWriting;

	/**
	 * @param oversubscribed whether the host has fewer cores than ranks
	 */
	RingStream(int peer, HostMemory memory, Doorbell doorbell, @Nullable CrossMemoryAttach attach,
			boolean oversubscribed) {
		this.peer = peer;
		this.memory = memory;
		this.doorbell = doorbell;
		HostLayout layout = memory.layout();
		this.out = new RecordRing(layout.messageRing(memory.self(), peer), layout.messageRingBytes());
		this.in = new RecordRing(layout.messageRing(peer, memory.self()), layout.messageRingBytes());
		this.peerCalls = layout.line(peer, Line.MESSAGE_CALLS);
		this.peerLeft = layout.line(peer, Line.LEFT);
		this.peerProcess = memory.process(peer);
		this.attach = attach;
		// Without enough cores, each further filling of the ring costs a context switch.
		long largest = oversubscribed ? layout.messageRingBytes() : Long.MAX_VALUE;
		this.chosenBytes = (attach != null && memory.self() < peer) ? largest : 0;
		this.choices = new MessageChoice[(this.chosenBytes > 0) ? Long.SIZE + 1 : 0];
		this.eagerBytes = (oversubscribed && layout.messageRingBytes() > SHARED_CORES_EAGER_BYTES)
				? SHARED_CORES_EAGER_BYTES : ByteStream.super.eagerBytes();
	}

	@Override
	public int smallBytes() {
		return SMALL_BYTES;
	}

	@Override
	public int eagerBytes() {
		return this.eagerBytes;
	}

	/** A peer that has left may have answered before: what it has sent is read first. */
	@Override
	public long write(long address, long bytes) throws IOException {
		if (left()) {
			if (hasData()) {
				return 0;
			}
			throw new IOException("the peer has left the group");
		}
		long written = 0;
		while (written < bytes) {
			long count = this.out.put(address + written, bytes - written);
			if (count == 0) {
				break;
			}
			written += count;
			notifyPeer();
		}
		this.blockedWriting = (written == 0 && bytes > 0);
		return written;
	}

	/** Notifies the peer of new data. */
	private void notifyPeer() {
		if (!this.called) {
			this.called = true;
			SharedWords.increment(this.peerCalls);
		}
		this.doorbell.ring(this.peer);
	}

	/**
	 * Reads the bytes of at most one record: a look at the next one would delay what this
	 * one is for.
	 */
	@Override
	public long read(long address, long bytes) throws IOException {
		long got = this.in.take(address, bytes);
		if (got > 0) {
			this.doorbell.ring(this.peer);
		}
		else if (bytes > 0 && left() && !hasData()) {
			throw new EOFException("closed by the peer");
		}
		return got;
	}

	/**
	 * The reference of an engine-allocated buffer, or the address of private memory. A
	 * rank that only sends measures nothing, and lets its peer read.
	 */
	@Override
	public long reference(long address, long bytes) {
		long shared = this.memory.allocations().reference(address, bytes);
		boolean readable = shared == 0 && this.attach != null
				&& (bytes > this.chosenBytes || choice(bytes).peerReads());
		return readable ? address : shared;
	}

	/** An engine-allocated buffer is copied without a system call. */
	@Override
	public boolean prefersCopy(long reference, long bytes) {
		return reference < 0 || bytes > this.chosenBytes || choice(bytes).copies.reads();
	}

	/** Messages that were answered together arrive one after the other. */
	@Override
	public void arrived(long reference, long bytes, boolean copied, long since) {
		if (this.chosenBytes > 0) {
			long now = System.nanoTime();
			if (reference > 0 && bytes <= this.chosenBytes) {
				choice(bytes).record(bytes, copied, Math.min(now - since, now - this.arrivedNanos));
			}
			this.arrivedNanos = now;
		}
	}

	private MessageChoice choice(long bytes) {
		int size = Long.SIZE - Long.numberOfLeadingZeros(bytes);
		MessageChoice known = this.choices[size];
		if (known == null) {
			known = new MessageChoice();
			this.choices[size] = known;
		}
		return known;
	}

	@Override
	public void copyFromPeer(long reference, long address, long bytes) throws IOException {
		if (reference < 0) {
			this.memory.allocations().copy(this.peer, reference, address, bytes);
		}
		else if (this.attach != null) {
			this.attach.copy(this.peerProcess, reference, address, bytes);
		}
		else {
			throw new IOException("the private memory of the peer cannot be read");
		}
		if (this.memory.hasFailed(this.peer, Line.MESSAGES_FAILED)) {
			throw new IOException("messages of the peer have failed, so that its buffers may have changed");
		}
	}

	private boolean left() {
		return SharedWords.readOpaque(this.peerLeft) != 0 && SharedWords.read(this.peerLeft) != 0;
	}

	/** Whether there is data to read. */
	boolean hasData() {
		return this.in.hasData();
	}

	/** Whether a read or write that was blocked can make progress. */
	boolean unblocked() {
		return hasData() || this.blockedWriting && this.out.hasRoom();
	}

	/** The choice for messages of about one size. */
	private static final class MessageChoice {

		private final CopyChoice copies = new CopyChoice(true);

		/** Messages that this rank has sent since it measured one. */
		private long sent;

		private boolean peerReads() {
			return ++this.sent > MAX_SENT || this.copies.reads();
		}

		private void record(long bytes, boolean read, long nanos) {
			this.sent = 0;
			this.copies.record(bytes, read, nanos);
		}

	}

}
