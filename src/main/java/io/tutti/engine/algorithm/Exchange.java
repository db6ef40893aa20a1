package io.tutti.engine.algorithm;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * One step of an algorithm with dependent steps: sends to one peer while it receives from
 * the same or another peer. Received bytes replace the local bytes or are combined with
 * them, directly out of the link's staging buffer. Either direction may be absent.
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

	private boolean peerFirst;

	private long regionStart;

	private long regionEnd = Long.MAX_VALUE;

	Exchange(Transport transport, ReductionKernels kernels) {
		this.transport = transport;
		this.kernels = kernels;
	}

	/** Sets the type and operator of the call. */
	Exchange prepare(Call call) {
		this.type = call.type();
		this.op = call.op();
		return this;
	}

	/** Makes the next step send these bytes. */
	Exchange send(int peer, long address, long bytes) {
		this.to = this.transport.link(peer);
		this.source = address;
		this.sendBytes = bytes;
		return this;
	}

	/** Makes the next step receive into memory. */
	Exchange receive(int peer, long address, long bytes) {
		this.from = this.transport.link(peer);
		this.target = address;
		this.receiveBytes = bytes;
		this.combining = false;
		return this;
	}

	/**
	 * Makes the next step combine received bytes with those in memory, which may be the
	 * same bytes that it sends.
	 * @param peerFirst whether the received bytes are the left operand
	 */
	Exchange combine(int peer, long address, long bytes, boolean peerFirst) {
		receive(peer, address, bytes);
		this.combining = true;
		this.peerFirst = peerFirst;
		return this;
	}

	/**
	 * Makes the next step continue at the start of a region where what it sends or
	 * receives without combining it reaches the end.
	 */
	Exchange around(long start, long end) {
		this.regionStart = start;
		this.regionEnd = end;
		return this;
	}

	/** Runs the step and resets it. */
	void run() {
		this.sent = 0;
		this.received = 0;
		while (true) {
			boolean moved = sendMore() | receiveMore();
			if (sendingDone() & receivingDone()) {
				this.transport.moved();
				this.to = null;
				this.from = null;
				this.regionEnd = Long.MAX_VALUE;
				return;
			}
			this.transport.endRound(moved);
		}
	}

	private boolean sendMore() {
		Link link = this.to;
		boolean moved = false;
		while (link != null && this.sent < this.sendBytes) {
			long address = placed(this.source + this.sent);
			long wanted = Math.min(this.sendBytes - this.sent, this.regionEnd - address);
			long taken = link.send(address, wanted);
			this.sent += taken;
			moved |= taken > 0;
			if (taken < wanted) {
				return moved;
			}
		}
		return moved;
	}

	private long placed(long address) {
		return (address < this.regionEnd) ? address : address - this.regionEnd + this.regionStart;
	}

	private boolean sendingDone() {
		Link link = this.to;
		if (link == null) {
			return true;
		}
		if (this.sent == this.sendBytes) {
			return link.sendFingerprint();
		}
		link.flush();
		return false;
	}

	private boolean receiveMore() {
		Link link = this.from;
		if (link == null || this.received == this.receiveBytes) {
			return false;
		}
		long got = this.combining ? combineMore(link) : takeMore(link);
		this.received += got;
		return got > 0;
	}

	private long takeMore(Link link) {
		long address = placed(this.target + this.received);
		return link.receive(address, Math.min(this.receiveBytes - this.received, this.regionEnd - address));
	}

	private long combineMore(Link link) {
		boolean sameAddress = this.to != null && this.sendBytes > 0 && this.source == this.target;
		long limit = sameAddress ? Math.min(this.sent, this.receiveBytes) : this.receiveBytes;
		long count = link.readable(limit - this.received) / this.type.bytes();
		if (count == 0) {
			return 0;
		}
		long local = this.target + this.received;
		long remote = link.readAddress();
		this.kernels.reduce(this.type, this.op, local, this.peerFirst ? remote : local, this.peerFirst ? local : remote,
				count);
		link.consume(count * this.type.bytes());
		return count * this.type.bytes();
	}

	private boolean receivingDone() {
		Link link = this.from;
		return link == null || (this.received == this.receiveBytes && link.fingerprintReceived());
	}

}
