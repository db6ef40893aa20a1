package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;

/**
 * All-reduce by recursive halving and doubling. In each of {@code log2 N} steps a rank
 * and its partner split the range they share, and each combines one half. In as many
 * steps back they exchange the results. Where {@code N} is not a power of two, two more
 * steps send the whole buffer. Sends nearly as few bytes as a ring, {@code 2 (N - 1) / N}
 * times the buffer, in far fewer steps. Used for buffers of medium size.
 * <p>
 * R. Rabenseifner: Optimization of collective reduction operations, International
 * Conference on Computational Science (2004).
 */
final class HalvingDoublingAllReduce implements Algorithm {

	private final AlgorithmContext context;

	private final PowerOfTwoFold fold;

	private final Exchange exchange;

	/** Bounds of the shared range before each step and after the last, in elements. */
	private final long[] first = new long[Integer.SIZE];

	private final long[] end = new long[Integer.SIZE];

	HalvingDoublingAllReduce(AlgorithmContext context) {
		this.context = context;
		this.fold = new PowerOfTwoFold(context);
		this.exchange = context.exchange();
	}

	@Override
	public void run(Call call) {
		NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.bytes());
		this.exchange.prepare(call);
		if (this.fold.enter(call.receiveAddress(), call.bytes())) {
			int steps = Integer.numberOfTrailingZeros(this.fold.positions());
			reduceScatter(call, steps);
			this.context.finish(call, address(call, this.first[steps]), this.end[steps] - this.first[steps]);
			allGather(call, steps);
			this.fold.leave(call.receiveAddress(), call.bytes());
		}
	}

	private void reduceScatter(Call call, int steps) {
		int position = this.fold.position();
		this.first[0] = 0;
		this.end[0] = call.count();
		for (int step = 0; step < steps; step++) {
			boolean upper = (position >> step & 1) != 0;
			long middle = (this.first[step] + this.end[step]) >>> 1;
			this.first[step + 1] = upper ? middle : this.first[step];
			this.end[step + 1] = upper ? this.end[step] : middle;
			int peer = this.fold.rankAt(position ^ 1 << step);
			if (upper) {
				send(call, peer, this.first[step], middle);
			}
			else {
				send(call, peer, middle, this.end[step]);
			}
			this.exchange.combine(peer, address(call, this.first[step + 1]),
					bytes(call, this.first[step + 1], this.end[step + 1]), upper);
			this.exchange.run();
		}
	}

	private void allGather(Call call, int steps) {
		int position = this.fold.position();
		for (int step = steps - 1; step >= 0; step--) {
			boolean upper = (position >> step & 1) != 0;
			int peer = this.fold.rankAt(position ^ 1 << step);
			long otherFirst = upper ? this.first[step] : this.end[step + 1];
			long otherEnd = upper ? this.first[step + 1] : this.end[step];
			send(call, peer, this.first[step + 1], this.end[step + 1]);
			this.exchange.receive(peer, address(call, otherFirst), bytes(call, otherFirst, otherEnd));
			this.exchange.run();
		}
	}

	private void send(Call call, int peer, long firstElement, long endElement) {
		this.exchange.send(peer, address(call, firstElement), bytes(call, firstElement, endElement));
	}

	private static long address(Call call, long element) {
		return call.receiveAddress() + element * call.type().bytes();
	}

	private static long bytes(Call call, long firstElement, long endElement) {
		return (endElement - firstElement) * call.type().bytes();
	}

}
