package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.Link;

/**
 * Ring reduce-scatter. The operands of a chunk are combined in ring order from the rank
 * after its owner; the owner is the last. Takes {@code N - 1} steps; each rank sends
 * {@code (N - 1) / N} times the buffer, the minimum.
 * <p>
 * The operand must not change, so a window holds the partial results in transit, and
 * chunks are sent in slices of half a window. A rank whose window is full has received at
 * least one step more than it has sent. Around a ring this cannot hold for all ranks, so
 * there is no deadlock.
 * <p>
 * P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations, Journal of Parallel and Distributed Computing 69 (2009).
 */
final class RingReduceScatter implements Algorithm {

	/** With fewer than two, a ring of full windows could deadlock. */
	private static final int SLICES_PER_WINDOW = 2;

	private final AlgorithmContext context;

	private final int rank;

	private final Chunks chunks;

	private final Window window;

	private final long sliceBytes;

	private final SliceCursor out;

	private final SliceCursor in;

	RingReduceScatter(AlgorithmContext context) {
		this.context = context;
		this.rank = context.rank();
		this.chunks = context.chunks();
		this.window = new Window(context.scratch());
		this.sliceBytes = context.scratch().bytes() / SLICES_PER_WINDOW;
		this.out = new SliceCursor(this.chunks, context.worldSize());
		this.in = new SliceCursor(this.chunks, context.worldSize());
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		this.window.clear();
		int steps = this.context.worldSize() - 1;
		this.out.start(this.rank - 1, steps, this.sliceBytes);
		this.in.start(this.rank - 2, steps, this.sliceBytes);
		Link next = this.context.link(this.context.ahead(1));
		Link previous = this.context.link(this.context.behind(1));
		while (true) {
			boolean moved = send(call, next) | receive(call, previous);
			boolean flushed = this.out.done() ? next.sendFingerprint() : next.flush();
			if (flushed && this.out.done() && this.in.done() && previous.fingerprintReceived()) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	/**
	 * Sends this rank's own operand in the first step of a slice, then received bytes.
	 */
	private boolean send(Call call, Link next) {
		boolean moved = false;
		while (!this.out.done()) {
			long taken = (this.out.step() == 0) ? next.send(call.sendAddress() + this.out.position(), this.out.left())
					: this.window.send(next, this.out.left());
			if (taken == 0) {
				return moved;
			}
			this.out.advance(taken);
			moved = true;
		}
		return moved;
	}

	private boolean receive(Call call, Link previous) {
		boolean moved = false;
		while (!this.in.done()) {
			long got = combine(call, previous);
			if (got == 0) {
				return moved;
			}
			this.in.advance(got);
			moved = true;
		}
		return moved;
	}

	/**
	 * Combines the received partial result of the previous ranks with the local operand.
	 */
	private long combine(Call call, Link previous) {
		int elementBytes = call.type().bytes();
		boolean last = this.in.step() == this.context.worldSize() - 2;
		long filled = this.window.filled();
		long room = last ? this.in.left()
				: Math.min(this.window.limit(elementBytes) - filled, this.window.contiguous(filled));
		long count = previous.readable(Math.min(this.in.left(), room)) / elementBytes;
		if (count == 0) {
			return 0;
		}
		long position = this.in.position();
		long target = last ? call.receiveAddress() + position - this.chunks.start(this.rank)
				: this.window.address(filled);
		this.context.reduce(call, target, previous.readAddress(), call.sendAddress() + position, count);
		previous.consume(count * elementBytes);
		if (last) {
			this.context.finish(call, target, count);
		}
		else {
			this.window.fill(filled + count * elementBytes);
		}
		return count * elementBytes;
	}

}
