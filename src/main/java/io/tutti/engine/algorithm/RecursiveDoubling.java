package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.kernel.ReductionKernels;

/**
 * Reduces a whole vector in place on every rank: in step {@code k} ranks whose positions
 * differ in bit {@code k} exchange all they have and both combine it, the lower rank's
 * operand first, so that both come to the same bits. Which of two NaNs survives is up to
 * each rank's compiler, so at the end all NaNs become one.
 */
final class RecursiveDoubling {

	private final int worldSize;

	private final Fold fold;

	private final Exchange exchange;

	private final ReductionKernels kernels;

	RecursiveDoubling(int rank, int worldSize, Exchange exchange, ReductionKernels kernels) {
		this.worldSize = worldSize;
		this.fold = new Fold(rank, worldSize);
		this.exchange = exchange;
		this.kernels = kernels;
	}

	/** Reduces the vector at an address, by the call's type and operator. */
	void run(Call call, long address, long bytes) {
		this.exchange.prepare(call);
		int companion = this.fold.companion();
		if (this.fold.guest()) {
			this.exchange.send(companion, address, bytes).run();
			this.exchange.receive(companion, address, bytes).run();
			return;
		}
		if (this.fold.host()) {
			this.exchange.combine(companion, address, bytes, true).run();
		}
		exchangeAll(address, bytes);
		this.kernels.finish(call.type(), call.op(), address, bytes / call.type().bytes(), this.worldSize);
		CanonicalNaN.replace(call.type(), address, bytes);
		if (this.fold.host()) {
			this.exchange.send(companion, address, bytes).run();
		}
	}

	private void exchangeAll(long address, long bytes) {
		int position = this.fold.position();
		for (int bit = 1; bit < this.fold.positions(); bit <<= 1) {
			int peer = this.fold.rankAt(position ^ bit);
			this.exchange.send(peer, address, bytes).combine(peer, address, bytes, (position & bit) != 0).run();
		}
	}

}
