package io.tutti.engine.algorithm;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;

/**
 * Inclusive and exclusive scan along a chain. A rank receives the reduction of the ranks
 * before it, combines it with its own operand and sends the result to the next rank as it
 * is computed, so a long buffer is pipelined. Takes {@code N - 1} steps; each rank sends
 * the buffer once, the minimum. Operands are combined in rank order, one after the other.
 * <p>
 * An inclusive scan sends out of the receive buffer. In an exclusive scan the receive
 * buffer holds the operand of the sum that is sent, so a window holds the sum.
 */
final class ChainScan implements Algorithm {

	private final AlgorithmContext context;

	private final int rank;

	private final int worldSize;

	private final Window window;

	private long received;

	private long sent;

	ChainScan(AlgorithmContext context) {
		this.context = context;
		this.rank = context.rank();
		this.worldSize = context.worldSize();
		this.window = new Window(context.scratch());
	}

	@Override
	public void run(Call call) {
		boolean first = this.rank == 0;
		boolean last = this.rank == this.worldSize - 1;
		this.window.clear();
		this.sent = 0;
		this.received = first ? call.bytes() : 0;
		if (first && call.collective() == Collective.SCAN) {
			NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.bytes());
		}
		while (true) {
			boolean moved = (!first && receive(call)) | (!last && send(call));
			boolean receivedAll = this.received == call.bytes() && (first || previous().fingerprintReceived());
			boolean sentAll = last || (this.sent == call.bytes() && next().sendFingerprint());
			if (receivedAll && sentAll) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	private Link previous() {
		return this.context.link(this.rank - 1);
	}

	private Link next() {
		return this.context.link(this.rank + 1);
	}

	private boolean receive(Call call) {
		boolean moved = false;
		while (this.received < call.bytes()) {
			long bytes = combine(call, previous());
			if (bytes == 0) {
				return moved;
			}
			this.received += bytes;
			moved = true;
		}
		return moved;
	}

	/** Combines the reduction of the ranks before this one with this rank's operand. */
	private long combine(Call call, Link previous) {
		int elementBytes = call.type().bytes();
		boolean inclusive = call.collective() == Collective.SCAN;
		boolean windowed = !inclusive && this.rank < this.worldSize - 1;
		long left = call.bytes() - this.received;
		long room = windowed
				? Math.min(this.window.limit(elementBytes) - this.received, this.window.contiguous(this.received))
				: left;
		long count = previous.readable(Math.min(left, room)) / elementBytes;
		long bytes = count * elementBytes;
		if (count == 0) {
			return 0;
		}
		long operand = call.sendAddress() + this.received;
		long target = call.receiveAddress() + this.received;
		if (inclusive) {
			this.context.reduce(call, target, previous.readAddress(), operand, count);
		}
		else {
			if (windowed) {
				this.context.reduce(call, this.window.address(this.received), previous.readAddress(), operand, count);
				this.window.fill(this.received + bytes);
			}
			NativeMemory.copy(previous.readAddress(), target, bytes);
		}
		previous.consume(bytes);
		return bytes;
	}

	private boolean send(Call call) {
		Link next = next();
		next.flush();
		long before = this.sent;
		if (this.rank == 0) {
			this.sent += next.send(call.sendAddress() + this.sent, call.bytes() - this.sent);
		}
		else if (call.collective() == Collective.SCAN) {
			this.sent += next.send(call.receiveAddress() + this.sent, this.received - this.sent);
		}
		else {
			this.sent += this.window.send(next, this.window.held());
		}
		return this.sent > before;
	}

}
