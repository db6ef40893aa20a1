package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * A pipelined pass around a ring. A buffer is divided into one chunk per rank. In step
 * {@code s} rank {@code r} sends chunk {@code r - s} to the next rank and receives chunk
 * {@code r - s - 1} from the previous one. A rank therefore sends in each step what it
 * received in the step before, and can forward each byte as soon as it arrives. The
 * connections carry two continuous streams without step boundaries.
 */
final class RingPass {

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	private final ReductionKernels kernels;

	private long address;

	private final Chunks chunks;

	private int steps;

	private int reducingSteps;

	private DataType type = DataType.FLOAT32;

	private ReduceOp op = ReduceOp.SUM;

	private int sendStep;

	private long sendOffset;

	private int receiveStep;

	private long receiveOffset;

	RingPass(int rank, int worldSize, Transport transport, ReductionKernels kernels, Chunks chunks) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.kernels = kernels;
		this.chunks = chunks;
	}

	/** Sets the buffer that the chunks belong to, and the call's type and operator. */
	void prepare(Call call, long address) {
		this.address = address;
		this.type = call.type();
		this.op = call.op();
	}

	/**
	 * Runs the pass.
	 * @param reducingSteps number of initial steps that combine received bytes with those
	 * in the buffer; later steps overwrite the buffer
	 * @param steps number of all steps
	 */
	void run(int reducingSteps, int steps) {
		this.reducingSteps = reducingSteps;
		this.steps = steps;
		this.sendStep = 0;
		this.sendOffset = 0;
		this.receiveStep = 0;
		this.receiveOffset = 0;
		Link next = this.transport.link((this.rank + 1) % this.worldSize);
		Link previous = this.transport.link(Math.floorMod(this.rank - 1, this.worldSize));
		while (true) {
			boolean moved = send(next) | receive(previous);
			boolean flushed = (this.sendStep == steps) ? next.greet() : next.flush();
			if (flushed && this.sendStep == steps && this.receiveStep == steps && previous.greeted()) {
				return;
			}
			this.transport.endRound(moved);
		}
	}

	private boolean send(Link next) {
		boolean moved = false;
		while (this.sendStep < this.steps) {
			int chunk = Math.floorMod(this.rank - this.sendStep, this.worldSize);
			long end = this.chunks.length(chunk);
			long available = available(end);
			if (this.sendOffset < available) {
				long sent = next.send(this.address + this.chunks.start(chunk) + this.sendOffset,
						available - this.sendOffset);
				this.sendOffset += sent;
				moved |= sent > 0;
			}
			if (available < end || this.sendOffset < end) {
				return moved;
			}
			this.sendStep++;
			this.sendOffset = 0;
		}
		return moved;
	}

	/** Number of bytes of the current chunk that are ready to be sent. */
	private long available(long end) {
		int source = this.sendStep - 1;
		if (source < this.receiveStep) {
			return end;
		}
		return (source == this.receiveStep) ? this.receiveOffset : -1;
	}

	private boolean receive(Link previous) {
		boolean moved = false;
		while (this.receiveStep < this.steps) {
			int chunk = Math.floorMod(this.rank - this.receiveStep - 1, this.worldSize);
			long end = this.chunks.length(chunk);
			if (this.receiveOffset < end) {
				long target = this.address + this.chunks.start(chunk) + this.receiveOffset;
				long got = (this.receiveStep < this.reducingSteps) ? combine(previous, target, end - this.receiveOffset)
						: previous.receive(target, end - this.receiveOffset);
				if (got == 0) {
					return moved;
				}
				moved = true;
				this.receiveOffset += got;
			}
			if (this.receiveOffset < end) {
				return moved;
			}
			this.receiveStep++;
			this.receiveOffset = 0;
		}
		return moved;
	}

	/**
	 * Combines the received partial result of the previous ranks with the local operand.
	 */
	private long combine(Link previous, long target, long wantedBytes) {
		long count = previous.readable(wantedBytes) / this.type.bytes();
		if (count == 0) {
			return 0;
		}
		this.kernels.reduce(this.type, this.op, target, previous.readAddress(), target, count);
		if (this.receiveStep == this.reducingSteps - 1) {
			this.kernels.finish(this.type, this.op, target, count, this.worldSize);
		}
		previous.consume(count * this.type.bytes());
		return count * this.type.bytes();
	}

}
