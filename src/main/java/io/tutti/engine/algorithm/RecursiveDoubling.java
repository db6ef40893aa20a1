package io.tutti.engine.algorithm;

import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;

/**
 * Reduces a whole vector in place on every rank. In step {@code k} ranks whose positions
 * differ in bit {@code k} exchange the whole vector. Both combine it with the lower
 * rank's operand first, so both get the same bits. Finally every NaN is replaced by the
 * canonical one, so that results do not depend on each rank's compiler.
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

	/** Reduces the vector at an address with the call's type and operator. */
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
