package io.tutti.engine.backend.nccl;

import io.tutti.Collective;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;

/**
 * The memory that a device call reads and writes. It must not be used until the call is
 * complete on the device.
 *
 * @param device device whose memory it is
 * @param send address to read; ignored if the call reads nothing on this rank
 * @param sendCount number of elements to read
 * @param receive address to write; ignored if the call writes nothing on this rank
 * @param receiveCount number of elements to write
 * @param type type of all elements
 */
public record DeviceOperands(int device, long send, long sendCount, long receive, long receiveCount,
		DeviceDataType type) {

	/** Checks the values. */
	public DeviceOperands {
		requireMemory("send", send, sendCount, type);
		requireMemory("receive", receive, receiveCount, type);
	}

	/**
	 * One buffer that is read and replaced.
	 * @param buffer the buffer
	 * @return the operands
	 */
	public static DeviceOperands inPlace(DeviceBuffer buffer) {
		return of(buffer, buffer);
	}

	/**
	 * One buffer that is read and another that is written.
	 * @param send the buffer to read
	 * @param receive the buffer to write, of the same type on the same device
	 * @return the operands
	 * @throws IllegalArgumentException if their types or devices differ
	 */
	public static DeviceOperands of(DeviceBuffer send, DeviceBuffer receive) {
		send.requireLike(receive);
		return new DeviceOperands(send.device(), send.address(), send.count(), receive.address(), receive.count(),
				send.type());
	}

	/**
	 * A buffer that is read only.
	 * @param buffer the buffer to read
	 * @return the operands
	 */
	public static DeviceOperands sending(DeviceBuffer buffer) {
		return new DeviceOperands(buffer.device(), buffer.address(), buffer.count(), 0, 0, buffer.type());
	}

	/**
	 * A buffer that is written only.
	 * @param buffer the buffer to write
	 * @return the operands
	 */
	public static DeviceOperands receiving(DeviceBuffer buffer) {
		return new DeviceOperands(buffer.device(), 0, 0, buffer.address(), buffer.count(), buffer.type());
	}

	private static void requireMemory(String name, long address, long count, DeviceDataType type) {
		if (count < 0 || count > Long.MAX_VALUE / type.bytes()) {
			throw new IllegalArgumentException(
					name + " count must be in 0.." + Long.MAX_VALUE / type.bytes() + ", got " + count);
		}
		if (address == 0 && count > 0) {
			throw new IllegalArgumentException(name + " address is 0 for " + count + " elements");
		}
	}

	void requireDevice(int expected) {
		if (this.device != expected) {
			throw new IllegalArgumentException(
					"the communicator works on device " + expected + ", the buffer is on device " + this.device);
		}
	}

	/**
	 * Checks that this memory fits a call.
	 * @throws IllegalArgumentException if the root, the device, a count or an overlap is
	 * not allowed
	 */
	void requireFit(Collective collective, RankPlacement place, int root) {
		place.requireRank("root", root);
		requireDevice(place.device());
		int parts = place.worldSize();
		if (collective.isRooted() && place.rank() != root) {
			return;
		}
		switch (collective) {
			case ALL_REDUCE, REDUCE, BROADCAST -> {
				requireCount("receive", this.receiveCount, this.sendCount, "equal to the send count");
				requireApartOrInPlace(0, 0);
			}
			case ALL_GATHER, GATHER -> {
				requireCount("receive", this.receiveCount, total("send", this.sendCount, parts),
						parts + " × the send count");
				requireApartOrInPlace(place.rank(), 0);
			}
			case REDUCE_SCATTER, SCATTER -> {
				requireCount("send", this.sendCount, total("receive", this.receiveCount, parts),
						parts + " × the receive count");
				requireApartOrInPlace(0, place.rank());
			}
			case ALL_TO_ALL -> requireExchange(parts);
			case BARRIER -> throw new IllegalArgumentException("a barrier has no operands");
			case SCAN, EXCLUSIVE_SCAN ->
				throw new UnsupportedOperationException("NCCL has no " + collective + "; use buffers in host memory");
		}
	}

	private void requireExchange(int parts) {
		requireCount("receive", this.receiveCount, this.sendCount, "equal to the send count");
		if (this.sendCount % parts != 0) {
			throw new IllegalArgumentException(
					"send count must be a multiple of " + parts + " (one part per rank), got " + this.sendCount);
		}
		requireApart("must not overlap: NCCL has no in-place all-to-all");
	}

	private static long total(String name, long count, int parts) {
		if (count > Long.MAX_VALUE / parts) {
			throw new IllegalArgumentException(
					name + " count must be in 0.." + Long.MAX_VALUE / parts + " for " + parts + " parts, got " + count);
		}
		return count * parts;
	}

	private static void requireCount(String name, long count, long expected, String why) {
		if (count != expected) {
			throw new IllegalArgumentException(name + " count must be " + expected + " (" + why + "), got " + count);
		}
	}

	/**
	 * Rejects overlapping buffers, unless they overlap exactly as NCCL defines an
	 * in-place call.
	 * @param sendPart index of the part of the receive buffer that is the send buffer in
	 * place
	 * @param receivePart index of the part of the send buffer that is the receive buffer
	 * in place
	 */
	private void requireApartOrInPlace(long sendPart, long receivePart) {
		boolean inPlace = this.send + receivePart * this.receiveCount * this.type.bytes() == this.receive
				+ sendPart * this.sendCount * this.type.bytes();
		if (!inPlace) {
			requireApart("must not overlap, except as NCCL defines an in-place call");
		}
	}

	private void requireApart(String rule) {
		long sendBytes = this.sendCount * this.type.bytes();
		long receiveBytes = this.receiveCount * this.type.bytes();
		if (sendBytes > 0 && receiveBytes > 0 && this.send < this.receive + receiveBytes
				&& this.receive < this.send + sendBytes) {
			throw new IllegalArgumentException("send and receive memory " + rule + ", got " + this.sendCount
					+ " elements sent and " + this.receiveCount + " received that overlap");
		}
	}

}
