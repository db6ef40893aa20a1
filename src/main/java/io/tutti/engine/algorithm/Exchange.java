package io.tutti.engine.algorithm;

import io.tutti.engine.Call;
import io.tutti.engine.DataType;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * One step of an algorithm whose steps wait for each other: sends to one rank while it
 * receives from one, the same or another. What comes replaces what is there or is
 * combined with it, straight out of the link's staging. Either half may be absent.
 */
final class Exchange {

	private final Transport transport;

	private final ReductionKernels kernels;

	private DataType type = DataType.FLOAT32;

	private ReduceOp op = ReduceOp.SUM;

	private @Nullable Link to;

	private long source;

	private long sendBytes;

	private long sent;

	private @Nullable Link from;

	private long target;

	private long receiveBytes;

	private long received;

	private boolean combining;

	private boolean theirsFirst;

	Exchange(Transport transport, ReductionKernels kernels) {
		this.transport = transport;
		this.kernels = kernels;
	}

	/** Takes up a call. */
	Exchange prepare(Call call) {
		this.type = call.type();
		this.op = call.op();
		return this;
	}

	/** The next step sends these bytes. */
	Exchange send(int peer, long address, long bytes) {
		this.to = this.transport.link(peer);
		this.source = address;
		this.sendBytes = bytes;
		return this;
	}

	/** The next step puts what comes into memory. */
	Exchange receive(int peer, long address, long bytes) {
		this.from = this.transport.link(peer);
		this.target = address;
		this.receiveBytes = bytes;
		this.combining = false;
		return this;
	}

	/**
	 * The next step combines what comes with what is in memory, which may be the bytes
	 * that it sends.
	 * @param theirsFirst whether what comes is the first operand
	 */
	Exchange combine(int peer, long address, long bytes, boolean theirsFirst) {
		receive(peer, address, bytes);
		this.combining = true;
		this.theirsFirst = theirsFirst;
		return this;
	}

	/** Carries the step out and forgets it. */
	void run() {
		this.sent = 0;
		this.received = 0;
		while (true) {
			boolean moved = sendMore() | receiveMore();
			if (sendingDone() & receivingDone()) {
				this.transport.moved();
				this.to = null;
				this.from = null;
				return;
			}
			this.transport.endRound(moved);
		}
	}

	private boolean sendMore() {
		Link link = this.to;
		if (link == null || this.sent == this.sendBytes) {
			return false;
		}
		long taken = link.send(this.source + this.sent, this.sendBytes - this.sent);
		this.sent += taken;
		return taken > 0;
	}

	private boolean sendingDone() {
		Link link = this.to;
		if (link == null) {
			return true;
		}
		if (this.sent == this.sendBytes) {
			return link.greet();
		}
		link.flush();
		return false;
	}

	private boolean receiveMore() {
		Link link = this.from;
		if (link == null || this.received == this.receiveBytes) {
			return false;
		}
		long got = this.combining ? combineMore(link)
				: link.receive(this.target + this.received, this.receiveBytes - this.received);
		this.received += got;
		return got > 0;
	}

	private long combineMore(Link link) {
		boolean samePlace = this.to != null && this.sendBytes > 0 && this.source == this.target;
		long limit = samePlace ? Math.min(this.sent, this.receiveBytes) : this.receiveBytes;
		long count = link.readable(limit - this.received) / this.type.bytes();
		if (count == 0) {
			return 0;
		}
		long ours = this.target + this.received;
		long theirs = link.readAddress();
		this.kernels.reduce(this.type, this.op, ours, this.theirsFirst ? theirs : ours,
				this.theirsFirst ? ours : theirs, count);
		link.consume(count * this.type.bytes());
		return count * this.type.bytes();
	}

	private boolean receivingDone() {
		Link link = this.from;
		return link == null || (this.received == this.receiveBytes && link.greeted());
	}

}
