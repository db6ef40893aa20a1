package io.tutti.engine.backend.nccl;

import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;

/**
 * What a call on device memory reads and writes. The memory must stay as it is until the
 * call is done on the device.
 *
 * @param device whose memory it is
 * @param send address of what is read; not looked at where the call reads nothing here
 * @param sendCount elements that are read
 * @param receive address of what is written; not looked at where the call writes nothing
 * @param receiveCount elements that are written
 * @param type type of all elements
 */
public record DeviceOperands(int device, long send, long sendCount, long receive, long receiveCount,
		DeviceDataType type) {

	public DeviceOperands {
		requireMemory("send", send, sendCount, type);
		requireMemory("receive", receive, receiveCount, type);
	}

	/** A buffer that is read and then replaced. */
	public static DeviceOperands inPlace(DeviceBuffer buffer) {
		return of(buffer, buffer);
	}

	/**
	 * One buffer that is read and another that is written.
	 * @throws IllegalArgumentException if they are of two types or on two devices
	 */
	public static DeviceOperands of(DeviceBuffer send, DeviceBuffer receive) {
		if (send.type() != receive.type() || send.device() != receive.device()) {
			throw new IllegalArgumentException(
					"send and receive buffer must be of one type on one device, got " + send + " and " + receive);
		}
		return new DeviceOperands(send.device(), send.address(), send.count(), receive.address(), receive.count(),
				send.type());
	}

	/** A buffer that is read only. */
	public static DeviceOperands sending(DeviceBuffer buffer) {
		return new DeviceOperands(buffer.device(), buffer.address(), buffer.count(), 0, 0, buffer.type());
	}

	/** A buffer that is written only. */
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

	void requireEqual() {
		require("receive", this.receiveCount, this.sendCount, "as many as are sent");
	}

	void requireReceived(long parts) {
		require("receive", this.receiveCount, ofParts("send", this.sendCount, parts), parts + " × the send count");
	}

	void requireSent(long parts) {
		require("send", this.sendCount, ofParts("receive", this.receiveCount, parts), parts + " × the receive count");
	}

	private static long ofParts(String name, long count, long parts) {
		if (count > Long.MAX_VALUE / parts) {
			throw new IllegalArgumentException(
					name + " count must be in 0.." + Long.MAX_VALUE / parts + " for " + parts + " parts, got " + count);
		}
		return count * parts;
	}

	/**
	 * Refuses memory that overlaps, unless exactly as NCCL defines a call in place.
	 * @param sendPart which part of what is received is what is sent, if in place
	 * @param receivePart which part of what is sent is what is received, if in place
	 */
	void requireApartOrInPlace(long sendPart, long receivePart) {
		boolean inPlace = this.send + receivePart * this.receiveCount * this.type.bytes() == this.receive
				+ sendPart * this.sendCount * this.type.bytes();
		if (!inPlace) {
			requireApart("must be apart, or lie as NCCL has it for a call in place");
		}
	}

	/** Refuses memory that overlaps. */
	void requireApart(String rule) {
		long sendBytes = this.sendCount * this.type.bytes();
		long receiveBytes = this.receiveCount * this.type.bytes();
		if (sendBytes > 0 && receiveBytes > 0 && this.send < this.receive + receiveBytes
				&& this.receive < this.send + sendBytes) {
			throw new IllegalArgumentException("send and receive memory " + rule + ", got " + this.sendCount
					+ " elements sent and " + this.receiveCount + " received that overlap");
		}
	}

	void requireSentInParts(long parts) {
		if (this.sendCount % parts != 0) {
			throw new IllegalArgumentException(
					"send count must be a multiple of " + parts + " (one part per rank), got " + this.sendCount);
		}
	}

	private static void require(String name, long count, long expected, String why) {
		if (count != expected) {
			throw new IllegalArgumentException(name + " count must be " + expected + " (" + why + "), got " + count);
		}
	}

}
