package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.spi.Deadline;

/**
 * The registration of a buffer with a communicator. Close it before the buffer. Closing
 * has no effect once the communicator has ended.
 */
public final class BufferRegistration implements AutoCloseable {

	private final NcclCommunicator communicator;

	private final long registration;

	private final Duration timeout;

	private final AtomicBoolean closed = new AtomicBoolean();

	private BufferRegistration(NcclCommunicator communicator, long registration, Duration timeout) {
		this.communicator = communicator;
		this.registration = registration;
		this.timeout = timeout;
	}

	static BufferRegistration of(NcclCommunicator communicator, DeviceBuffer buffer, Duration timeout) {
		long[] registration = new long[1];
		communicator.manage("register", Deadline.after(timeout),
				(nccl, handle) -> nccl.commRegister(handle, buffer.address(), buffer.bytes(), registration));
		return new BufferRegistration(communicator, registration[0], timeout);
	}

	/** Deregisters the buffer. Later calls have no effect. */
	@Override
	public void close() {
		if (this.closed.compareAndSet(false, true) && this.communicator.state() == NcclCommunicator.State.OPEN) {
			this.communicator.manage("deregister", Deadline.after(this.timeout),
					(nccl, handle) -> nccl.commDeregister(handle, this.registration));
		}
	}

}
