package io.tutti.engine.algorithm;

import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;

/**
 * Pairwise all-to-all. A rank sends to the ranks 1, 2, … ahead and receives from the
 * ranks 1, 2, … behind; the two directions progress independently. Each rank sends
 * {@code N - 1} messages and {@code N - 1} parts, the minimum. Where counts differ, each
 * message starts with its size, so that the receiver can detect a mismatch.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class PairwiseAllToAll implements Algorithm {

	private static final int SIZE_BYTES = Long.BYTES;

	private final AlgorithmContext context;

	private final int worldSize;

	private final Chunks outgoing;

	private final Chunks incoming;

	private long headerBytes;

	private int sendStep;

	private long sent;

	private int receiveStep;

	private long received;

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
		this.sent = 0;
		this.receiveStep = 1;
		this.received = 0;
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
		while (this.sendStep < this.worldSize) {
			int peer = this.context.ahead(this.sendStep);
			Link to = this.context.link(peer);
			to.flush();
			long before = this.sent;
			sendHeader(to, peer);
			long end = this.headerBytes + this.outgoing.length(peer);
			if (this.sent >= this.headerBytes && this.sent < end) {
				long offset = this.sent - this.headerBytes;
				this.sent += to.send(call.sendAddress() + this.outgoing.start(peer) + offset, end - this.sent);
			}
			moved |= this.sent > before;
			if (this.sent < end || !to.sendFingerprint()) {
				return moved;
			}
			this.sendStep++;
			this.sent = 0;
		}
		return moved;
	}

	private void sendHeader(Link to, int peer) {
		if (this.sent < this.headerBytes) {
			long header = this.context.scratch().address();
			NativeMemory.putLong(header, this.outgoing.length(peer));
			this.sent += to.send(header + this.sent, this.headerBytes - this.sent);
		}
	}

	private boolean receive(Call call) {
		boolean moved = false;
		while (this.receiveStep < this.worldSize) {
			int peer = this.context.behind(this.receiveStep);
			Link from = this.context.link(peer);
			long before = this.received;
			receiveHeader(call, from, peer);
			long end = this.headerBytes + this.incoming.length(peer);
			if (this.received >= this.headerBytes && this.received < end) {
				long offset = this.received - this.headerBytes;
				this.received += from.receive(call.receiveAddress() + this.incoming.start(peer) + offset,
						end - this.received);
			}
			moved |= this.received > before;
			if (this.received < end || !from.fingerprintReceived()) {
				return moved;
			}
			this.receiveStep++;
			this.received = 0;
		}
		return moved;
	}

	private void receiveHeader(Call call, Link from, int peer) {
		if (this.received < this.headerBytes && from.readable(SIZE_BYTES) == SIZE_BYTES) {
			long announcedBytes = NativeMemory.getLong(from.readAddress());
			from.consume(SIZE_BYTES);
			if (announcedBytes != this.incoming.length(peer)) {
				throw mismatch(call, peer, announcedBytes / call.type().bytes());
			}
			this.received = SIZE_BYTES;
		}
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
