package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;

/**
 * All-reduce round a ring: {@code N - 1} steps that reduce, after which each rank holds
 * one chunk of the result, then {@code N - 1} that pass the chunks on. Each rank sends
 * {@code 2 (N - 1) / N} times the buffer, the least possible. Operands of a chunk are
 * combined in ring order from the chunk's own rank, once; all ranks get that one result.
 * <p>
 * In step {@code s} rank {@code r} sends chunk {@code r - s} to the next rank and
 * receives chunk {@code r - s - 1} from the previous one. What it sends in a step is what
 * it received in the step before, and every byte is sent as soon as it has arrived: there
 * are two streams, and no step waits for a whole chunk.
 * <p>
 * P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations, Journal of Parallel and Distributed Computing 69 (2009).
 */
final class RingAllReduce implements Algorithm {

	/** A chunk is one slice. */
	private static final long WHOLE_CHUNKS = Long.MAX_VALUE;

	private final AlgorithmContext context;

	private final int rank;

	private final int worldSize;

	private final Chunks chunks;

	private final SliceCursor out;

	private final SliceCursor in;

	/** Address of the bytes that this rank sends first. */
	private long operand;

	private long address;

	private int reducingSteps;

	/** Bytes that can be sent: the rank's own chunk and what it has received. */
	private long ready;

	RingAllReduce(AlgorithmContext context) {
		this.context = context;
		this.rank = context.rank();
		this.worldSize = context.worldSize();
		this.chunks = context.chunks();
		this.out = new SliceCursor(this.chunks, this.worldSize);
		this.in = new SliceCursor(this.chunks, this.worldSize);
	}

	@Override
	public void run(Call call) {
		long chunkCount = (call.count() + this.worldSize - 1) / this.worldSize;
		this.chunks.ofBuffer(call.bytes(), chunkCount * call.type().bytes());
		pass(call, call.sendAddress(), this.worldSize - 1, 2 * (this.worldSize - 1));
	}

	/**
	 * All-gather, the second half of the all-reduce: in {@code N - 1} steps each rank
	 * passes on what it received last. Each rank sends {@code N - 1} parts, the minimum.
	 */
	void allGather(Call call) {
		this.chunks.ofParts(call);
		NativeMemory.copy(call.sendAddress(), call.receiveAddress() + this.chunks.start(this.rank), call.sendBytes());
		pass(call, call.receiveAddress(), 0, this.worldSize - 1);
	}

	/**
	 * Sends the chunks of a call's result round the ring.
	 * @param operand address of this rank's operand
	 * @param reducingSteps number of first steps in which received data is combined with
	 * the buffer; in the others it replaces the buffer
	 */
	private void pass(Call call, long operand, int reducingSteps, int steps) {
		this.operand = operand;
		this.address = call.receiveAddress();
		this.reducingSteps = reducingSteps;
		this.ready = this.chunks.length(this.rank);
		this.out.start(this.rank, steps, WHOLE_CHUNKS);
		this.in.start(this.rank - 1, steps, WHOLE_CHUNKS);
		Link next = this.context.link(this.context.ahead(1));
		Link previous = this.context.link(this.context.behind(1));
		while (true) {
			boolean moved = send(next) | receive(call, previous);
			boolean flushed = this.out.done() ? next.sendFingerprint() : next.flush();
			if (flushed && this.out.done() && this.in.done() && previous.fingerprintReceived()) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	private boolean send(Link next) {
		boolean moved = false;
		while (!this.out.done() && this.ready > 0) {
			long source = (this.out.step() == 0) ? this.operand : this.address;
			long wanted = Math.min(this.out.left(), this.ready);
			long taken = next.send(source + this.out.position(), wanted);
			this.out.advance(taken);
			this.ready -= taken;
			moved |= taken > 0;
			if (taken < wanted) {
				return moved;
			}
		}
		return moved;
	}

	private boolean receive(Call call, Link previous) {
		boolean moved = false;
		while (!this.in.done()) {
			long offset = this.in.position();
			long left = this.in.left();
			long got = (this.in.step() < this.reducingSteps) ? combine(call, previous, offset, left)
					: previous.receive(this.address + offset, left);
			if (got == 0) {
				return moved;
			}
			this.in.advance(got);
			this.ready += got;
			moved = true;
			if (got < left) {
				return moved;
			}
		}
		return moved;
	}

	/** Combines the partial result of the ranks before with this rank's operand. */
	private long combine(Call call, Link previous, long offset, long wantedBytes) {
		long count = previous.readable(wantedBytes) / call.type().bytes();
		if (count == 0) {
			return 0;
		}
		long target = this.address + offset;
		this.context.reduce(call, target, previous.readAddress(), this.operand + offset, count);
		if (this.in.step() == this.reducingSteps - 1) {
			this.context.finish(call, target, count);
		}
		previous.consume(count * call.type().bytes());
		return count * call.type().bytes();
	}

}
