package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * Broadcast down a binomial tree: with the ranks numbered from the root, a rank's parent
 * is its number without the lowest set bit. Bytes go on to all children as they come, so
 * that a long buffer fills the whole tree. {@code ceil(log2 N)} hops; a rank sends the
 * buffer at most that many times.
 * <p>
 * R. van de Geijn et al.: Collective communication: theory, practice, and experience,
 * Concurrency and Computation 19 (2007).
 */
final class BinomialBroadcast implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	/** How much each child has been sent, by the bit that makes it a child. */
	private final long[] sent = new long[Integer.SIZE];

	BinomialBroadcast(int rank, int worldSize, Transport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
	}

	@Override
	public void run(Call call) {
		int number = Math.floorMod(this.rank - call.root(), this.worldSize);
		int firstBit = (number == 0) ? ceilingLog2(this.worldSize) : Integer.numberOfTrailingZeros(number);
		for (int bit = 0; bit < firstBit; bit++) {
			this.sent[bit] = 0;
		}
		long address = call.receiveAddress();
		long bytes = call.bytes();
		long received = (number == 0) ? bytes : 0;
		while (true) {
			long before = received;
			if (number != 0 && received < bytes) {
				received += parent(call, number).receive(address + received, bytes - received);
			}
			boolean moved = received > before | forward(call, number, firstBit, address, received);
			if (received == bytes && done(call, number, firstBit, bytes)) {
				return;
			}
			if (moved) {
				this.transport.moved();
			}
			else {
				this.transport.stalled();
			}
		}
	}

	/** Sends each child what has come; the largest subtree first. */
	private boolean forward(Call call, int number, int firstBit, long address, long received) {
		boolean moved = false;
		for (int bit = firstBit - 1; bit >= 0; bit--) {
			if (isChild(number, bit)) {
				Link child = child(call, number, bit);
				child.flush();
				if (this.sent[bit] < received) {
					long count = child.send(address + this.sent[bit], received - this.sent[bit]);
					this.sent[bit] += count;
					moved |= count > 0;
				}
			}
		}
		return moved;
	}

	private boolean done(Call call, int number, int firstBit, long bytes) {
		boolean done = number == 0 || parent(call, number).greeted();
		for (int bit = firstBit - 1; bit >= 0; bit--) {
			if (isChild(number, bit)) {
				done &= this.sent[bit] == bytes & child(call, number, bit).greet();
			}
		}
		return done;
	}

	private boolean isChild(int number, int bit) {
		return number + (1 << bit) < this.worldSize;
	}

	private Link child(Call call, int number, int bit) {
		return this.transport.link((number + (1 << bit) + call.root()) % this.worldSize);
	}

	private Link parent(Call call, int number) {
		return this.transport.link(((number & (number - 1)) + call.root()) % this.worldSize);
	}

	private static int ceilingLog2(int value) {
		return Integer.SIZE - Integer.numberOfLeadingZeros(value - 1);
	}

}
