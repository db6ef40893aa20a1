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

	/**
	 * How much more of a step a rank sends than it has received of it, on a host with
	 * fewer processors than ranks: what waits for a rank that has none falls out of the
	 * cache before it is read.
	 */
	private static final long AHEAD_BYTES = 128 * 1024;

	private final AlgorithmContext context;

	private final int worldSize;

	private final Chunks outgoing;

	private final Chunks incoming;

	private long headerBytes;

	private final Direction sending = new Direction() {
		@Override
		long transfer(Call call, int step, long bytes) {
			return send(call, step, bytes);
		}
	};

	private final Direction receiving = new Direction() {
		@Override
		long transfer(Call call, int step, long bytes) {
			return receive(call, PairwiseAllToAll.this.context.behind(step), bytes);
		}
	};

	PairwiseAllToAll(AlgorithmContext context) {
		this.context = context;
		this.worldSize = context.worldSize();
		this.outgoing = context.chunks();
		this.incoming = new Chunks(this.worldSize);
	}

	@Override
	public void run(Call call) {
		setChunks(call);
		this.sending.begin();
		this.receiving.begin();
		int rank = this.context.rank();
		NativeMemory.copyOwn(call.sendAddress() + this.outgoing.start(rank),
				call.receiveAddress() + this.incoming.start(rank), this.incoming.length(rank));
		while (true) {
			boolean moved = this.sending.progress(call) | this.receiving.progress(call);
			if (this.sending.done() && this.receiving.done()) {
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

	private long send(Call call, int step, long before) {
		int peer = this.context.ahead(step);
		Link to = this.context.link(peer);
		to.flush();
		long sent = before;
		if (sent < this.headerBytes) {
			long header = this.context.scratch().address();
			NativeMemory.putLong(header, this.outgoing.length(peer));
			sent += to.send(header + sent, this.headerBytes - sent);
		}
		long end = this.headerBytes + this.outgoing.length(peer);
		if (sent >= this.headerBytes && sent < end) {
			long offset = sent - this.headerBytes;
			long bytes = Math.min(end, limit(call, step)) - sent;
			sent += to.send(call.sendAddress() + this.outgoing.start(peer) + offset, bytes);
		}
		return (sent == end && to.sendFingerprint()) ? Direction.DONE : sent;
	}

	/**
	 * How many bytes of a step may have been sent by now. The ranks of a step form rings.
	 * Where every rank sends and receives as much, the sum over a ring of what is sent
	 * and not received is 0 once nothing is on its way, so that not all can wait at the
	 * limit. So the limit must not apply to counts by rank.
	 */
	private long limit(Call call, int step) {
		boolean limited = this.context.transport().oversubscribed() && !call.uneven() && !this.receiving.done(step);
		return limited ? this.receiving.moved(step) + AHEAD_BYTES : Long.MAX_VALUE;
	}

	private long receive(Call call, int peer, long before) {
		Link from = this.context.link(peer);
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
		return (received == end && from.fingerprintReceived()) ? Direction.DONE : received;
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

	/** The steps in one direction, of which a few are in progress. */
	private abstract class Direction {

		/** In place of the bytes of a complete step. */
		static final long DONE = -1;

		/** First step that is not complete. */
		private int first;

		/** Bytes of each step in progress, under its number modulo {@link #WINDOW}. */
		private final long[] bytes = new long[WINDOW];

		void begin() {
			this.first = 1;
			Arrays.fill(this.bytes, 0);
		}

		boolean done() {
			return this.first == PairwiseAllToAll.this.worldSize;
		}

		/** Whether a step is complete. */
		boolean done(int step) {
			return step < this.first || (step < this.first + WINDOW && this.bytes[step % WINDOW] == DONE);
		}

		/** How many bytes of a step that is not complete have moved. */
		long moved(int step) {
			return (step < this.first + WINDOW) ? this.bytes[step % WINDOW] : 0;
		}

		/** Moves what is possible of the steps in progress. */
		boolean progress(Call call) {
			boolean moved = false;
			int end = Math.min(PairwiseAllToAll.this.worldSize, this.first + WINDOW);
			for (int step = this.first; step < end; step++) {
				long before = this.bytes[step % WINDOW];
				if (before != DONE) {
					long after = transfer(call, step, before);
					this.bytes[step % WINDOW] = after;
					moved |= after != before;
				}
			}
			while (!done() && this.bytes[this.first % WINDOW] == DONE) {
				this.bytes[this.first++ % WINDOW] = 0;
			}
			return moved;
		}

		/**
		 * Moves what is possible of a step.
		 * @param bytes how many of its bytes have moved
		 * @return how many have moved now, or {@link #DONE}
		 */
		abstract long transfer(Call call, int step, long bytes);

	}

}
