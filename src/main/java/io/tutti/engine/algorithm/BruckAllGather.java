package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * Bruck all-gather. In each step a rank sends all parts it has, its own and those of the
 * ranks after it, to the rank {@code 2^k} before it. Takes {@code ceil(log2 N)} steps for
 * any {@code N}; each rank sends {@code N - 1} parts. Used for small parts. Parts are
 * received directly at their final place.
 * <p>
 * J. Bruck et al.: Efficient algorithms for all-to-all communications in multiport
 * message-passing systems, IEEE Transactions on Parallel and Distributed Systems 8
 * (1997).
 */
final class BruckAllGather implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	private final Chunks chunks;

	private long address;

	private long sent;

	private long received;

	BruckAllGather(int rank, int worldSize, Transport transport, Chunks chunks) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.chunks = chunks;
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		this.address = call.receiveAddress();
		NativeMemory.copy(call.sendAddress(), this.address + this.chunks.start(this.rank), call.sendBytes());
		long held = call.sendBytes();
		for (int distance = 1; distance < this.worldSize; distance <<= 1) {
			int parts = Math.min(distance, this.worldSize - distance);
			step(distance, span(this.rank, parts), held, span((this.rank + distance) % this.worldSize, parts));
			held += this.received;
		}
	}

	/**
	 * Bytes of a number of consecutive parts, the first of which belongs to the given
	 * rank.
	 */
	private long span(int first, int parts) {
		int end = first + parts;
		long bytes = this.chunks.start(Math.min(end, this.worldSize)) - this.chunks.start(first);
		return (end > this.worldSize) ? bytes + this.chunks.start(end - this.worldSize) : bytes;
	}

	private void step(int distance, long sendBytes, long held, long receiveBytes) {
		Link to = this.transport.link(Math.floorMod(this.rank - distance, this.worldSize));
		Link from = this.transport.link((this.rank + distance) % this.worldSize);
		this.sent = 0;
		this.received = 0;
		while (true) {
			boolean moved = send(to, sendBytes) | receive(from, held, receiveBytes);
			boolean flushed = (this.sent == sendBytes) ? to.sendFingerprint() : to.flush();
			if (flushed && this.sent == sendBytes && this.received == receiveBytes && from.fingerprintReceived()) {
				this.transport.moved();
				return;
			}
			this.transport.endRound(moved);
		}
	}

	private boolean send(Link to, long bytes) {
		boolean moved = false;
		while (this.sent < bytes) {
			long wanted = Math.min(bytes - this.sent, contiguous(this.sent));
			long taken = to.send(addressOf(this.sent), wanted);
			this.sent += taken;
			moved |= taken > 0;
			if (taken < wanted) {
				return moved;
			}
		}
		return moved;
	}

	private boolean receive(Link from, long held, long bytes) {
		if (this.received == bytes) {
			return false;
		}
		long position = held + this.received;
		long got = from.receive(addressOf(position), Math.min(bytes - this.received, contiguous(position)));
		this.received += got;
		return got > 0;
	}

	/** Address of a position relative to this rank's own part. */
	private long addressOf(long position) {
		long physical = this.chunks.start(this.rank) + position;
		return this.address + ((physical < this.chunks.totalBytes()) ? physical : physical - this.chunks.totalBytes());
	}

	private long contiguous(long position) {
		long physical = this.chunks.start(this.rank) + position;
		long total = this.chunks.totalBytes();
		return (physical < total) ? total - physical : 2 * total - physical;
	}

}
