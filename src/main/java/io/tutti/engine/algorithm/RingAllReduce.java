package io.tutti.engine.algorithm;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

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

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	private final ReductionKernels kernels;

	/** Address of the bytes that this rank sends first. */
	private long operand;

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

	RingAllReduce(int rank, int worldSize, Transport transport, ReductionKernels kernels, Chunks chunks) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.kernels = kernels;
		this.chunks = chunks;
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
		this.type = call.type();
		this.op = call.op();
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
			boolean flushed = (this.sendStep == steps) ? next.sendFingerprint() : next.flush();
			if (flushed && this.sendStep == steps && this.receiveStep == steps && previous.fingerprintReceived()) {
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
				long source = (this.sendStep == 0) ? this.operand : this.address;
				long sent = next.send(source + this.chunks.start(chunk) + this.sendOffset, available - this.sendOffset);
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

	/** How much of the chunk that is being sent has its final value on this rank. */
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
				long offset = this.chunks.start(chunk) + this.receiveOffset;
				long got = (this.receiveStep < this.reducingSteps) ? combine(previous, offset, end - this.receiveOffset)
						: previous.receive(this.address + offset, end - this.receiveOffset);
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

	/** Combines the partial result of the ranks before with this rank's operand. */
	private long combine(Link previous, long offset, long wantedBytes) {
		long count = previous.readable(wantedBytes) / this.type.bytes();
		if (count == 0) {
			return 0;
		}
		long target = this.address + offset;
		this.kernels.reduce(this.type, this.op, target, previous.readAddress(), this.operand + offset, count);
		if (this.receiveStep == this.reducingSteps - 1) {
			this.kernels.finish(this.type, this.op, target, count, this.worldSize);
		}
		previous.consume(count * this.type.bytes());
		return count * this.type.bytes();
	}

}
