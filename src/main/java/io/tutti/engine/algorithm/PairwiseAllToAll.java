package io.tutti.engine.algorithm;

import java.util.Arrays;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;

/**
 * Pairwise all-to-all. A rank sends to the ranks 1, 2, … ahead and receives from the
 * ranks 1, 2, … behind, a few at once; the two directions progress independently. Each
 * rank sends {@code N - 1} messages and {@code N - 1} parts, the minimum. Where counts
 * differ, each message starts with its size, so that the receiver can detect a mismatch.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class PairwiseAllToAll implements Algorithm {

	private static final int SIZE_BYTES = Long.BYTES;

	/**
	 * Steps in progress at once in each direction: while one peer has no room or no data,
	 * a rank goes on with the next.
	 */
	private static final int WINDOW = 4;

	/** Bytes of a step that is complete. */
	private static final long DONE = -1;

	private final AlgorithmContext context;

	private final int worldSize;

	private final Chunks outgoing;

	private final Chunks incoming;

	private long headerBytes;

	private int sendStep;

	private int receiveStep;

	/** Bytes of each step in progress, under its number modulo {@link #WINDOW}. */
	private final long[] sent = new long[WINDOW];

	private final long[] received = new long[WINDOW];

	PairwiseAllToAll(AlgorithmContext context) {
		this.context = context;
		this.worldSize = context.worldSize();
		this.outgoing = context.chunks();
		this.incoming = new Chunks(this.worldSize);
	}

	@Override
	public void run(Call call) {
		setChunks(call);
		this.sendStep = 1;
		this.receiveStep = 1;
		Arrays.fill(this.sent, 0);
		Arrays.fill(this.received, 0);
		int rank = this.context.rank();
		NativeMemory.copy(call.sendAddress() + this.outgoing.start(rank),
				call.receiveAddress() + this.incoming.start(rank), this.incoming.length(rank));
		while (true) {
			boolean moved = send(call) | receive(call);
			if (this.sendStep == this.worldSize && this.receiveStep == this.worldSize) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	private void setChunks(Call call) {
		this.headerBytes = call.uneven() ? SIZE_BYTES : 0;
		this.outgoing.ofParts(call);
		if (call.uneven()) {
			this.incoming.ofCounts(call.receiveCounts(), call.type().bytes());
		}
		else {
			this.incoming.ofParts(call);
		}
	}

	private boolean send(Call call) {
		boolean moved = false;
		int end = Math.min(this.worldSize, this.sendStep + WINDOW);
		for (int step = this.sendStep; step < end; step++) {
			int slot = step % WINDOW;
			if (this.sent[slot] != DONE) {
				moved |= send(call, this.context.ahead(step), slot);
			}
		}
		while (this.sendStep < this.worldSize && this.sent[this.sendStep % WINDOW] == DONE) {
			this.sent[this.sendStep++ % WINDOW] = 0;
		}
		return moved;
	}

	private boolean send(Call call, int peer, int slot) {
		Link to = this.context.link(peer);
		to.flush();
		long before = this.sent[slot];
		long sent = before;
		if (sent < this.headerBytes) {
			long header = this.context.scratch().address();
			NativeMemory.putLong(header, this.outgoing.length(peer));
			sent += to.send(header + sent, this.headerBytes - sent);
		}
		long end = this.headerBytes + this.outgoing.length(peer);
		if (sent >= this.headerBytes && sent < end) {
			long offset = sent - this.headerBytes;
			sent += to.send(call.sendAddress() + this.outgoing.start(peer) + offset, end - sent);
		}
		this.sent[slot] = (sent == end && to.sendFingerprint()) ? DONE : sent;
		return sent > before;
	}

	private boolean receive(Call call) {
		boolean moved = false;
		int end = Math.min(this.worldSize, this.receiveStep + WINDOW);
		for (int step = this.receiveStep; step < end; step++) {
			int slot = step % WINDOW;
			if (this.received[slot] != DONE) {
				moved |= receive(call, this.context.behind(step), slot);
			}
		}
		while (this.receiveStep < this.worldSize && this.received[this.receiveStep % WINDOW] == DONE) {
			this.received[this.receiveStep++ % WINDOW] = 0;
		}
		return moved;
	}

	private boolean receive(Call call, int peer, int slot) {
		Link from = this.context.link(peer);
		long before = this.received[slot];
		long received = before;
		if (received < this.headerBytes && from.readable(SIZE_BYTES) == SIZE_BYTES) {
			long announcedBytes = NativeMemory.getLong(from.readAddress());
			from.consume(SIZE_BYTES);
			if (announcedBytes != this.incoming.length(peer)) {
				throw mismatch(call, peer, announcedBytes / call.type().bytes());
			}
			received = SIZE_BYTES;
		}
		long end = this.headerBytes + this.incoming.length(peer);
		if (received >= this.headerBytes && received < end) {
			long offset = received - this.headerBytes;
			received += from.receive(call.receiveAddress() + this.incoming.start(peer) + offset, end - received);
		}
		this.received[slot] = (received == end && from.fingerprintReceived()) ? DONE : received;
		return received > before;
	}

	private CollectiveException mismatch(Call call, int peer, long announcedCount) {
		GroupIdentity identity = this.context.identity();
		int self = identity.worldRank();
		int other = identity.members().get(peer);
		String detail = "rank " + other + " sends " + announcedCount + " elements to rank " + self + ", which expects "
				+ call.receiveCounts()[peer];
		return identity.exception(call.failure(Failure.Kind.MISMATCH, identity.name(),
				List.of(Math.min(self, other), Math.max(self, other)), detail), null);
	}

}
