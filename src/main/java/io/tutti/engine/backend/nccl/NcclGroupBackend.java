package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.spi.RankException;
import org.jspecify.annotations.Nullable;

/**
 * Collectives on device memory by NCCL, on a dedicated stream, and on host memory by the
 * underlying backend. Both share the group's order of calls. Device calls are reported to
 * rank 0 in batches, since NCCL does not compare calls and may complete mismatched ones.
 * Rank 0 compares them, and its verdict aborts the communicator on every rank.
 */
public final class NcclGroupBackend implements GroupBackend {

	/** The name of the backend. */
	public static final String NAME = "nccl";

	/**
	 * Wait for a verdict: a broken connection often means a lost rank, which rank 0
	 * detects.
	 */
	static final Duration VERDICT_WAIT = Duration.ofMillis(500);

	private final GroupIdentity identity;

	private final GroupBackend host;

	private final FailureLatch latch;

	private final DeviceRuntime runtime;

	private final RankCommunicator communicator;

	private final Watchdog watchdog;

	private final CallReports reports;

	/** Sequence number of the last device call. */
	private volatile long sequence = -1;

	/** The device call in progress. */
	private volatile @Nullable Call running;

	/** Aborts the communicator; {@code null} before the group breaks. */
	private volatile @Nullable Thread aborting;

	NcclGroupBackend(GroupIdentity identity, GroupBackend host, FailureLatch latch, FailureReporter reporter,
			DeviceRuntime runtime, RankCommunicator communicator) {
		this.identity = identity;
		this.host = host;
		this.latch = latch;
		this.runtime = runtime;
		this.communicator = communicator;
		this.reports = new CallReports(identity.name(), identity.worldRank(), reporter);
		communicator.abortIf(this::cannotComplete);
		this.watchdog = Watchdog.start(communicator, identity.worldRank(), Watchdog.INTERVAL,
				(failure) -> reportUnlessFailed(reporter, failure));
	}

	/**
	 * NCCL often learns of a lost rank or a missed deadline before the verdict comes.
	 */
	private void reportUnlessFailed(FailureReporter reporter, NcclException error) {
		Failure failure = failure(error);
		if (this.latch.await(VERDICT_WAIT) == null) {
			reporter.report(failure);
		}
	}

	/**
	 * The failure for an asynchronous error. Between calls it names no rank: the error
	 * may be a consequence of a deadline that the others have missed in their next call.
	 */
	private Failure failure(NcclException error) {
		Call call = this.running;
		return (call != null) ? this.identity.failure(Failure.Kind.ABORTED, call, error.problem()) : Failure.outside(
				Failure.Kind.ABORTED, this.identity.name(), List.of(),
				"rank " + this.identity.worldRank() + " found an error between its device calls: " + error.problem());
	}

	RankCommunicator communicator() {
		return this.communicator;
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public String transport() {
		return this.host.transport();
	}

	@Override
	public boolean takesDeviceMemory() {
		return true;
	}

	/**
	 * Permits a call whose memory the device cannot tell, so that it takes part in the
	 * group's order, fails when it runs and aborts the group: the other ranks wait for
	 * it.
	 */
	@Override
	public void requireSupported(Collective collective, MemorySegment send, MemorySegment receive,
			@Nullable ReduceOp op, boolean uneven) {
		boolean sends;
		boolean receives;
		try {
			sends = isOnDevice(send);
			receives = isOnDevice(receive);
		}
		catch (DeviceException ex) {
			return;
		}
		if (!sends && !receives) {
			this.host.requireSupported(collective, send, receive, op, uneven);
			return;
		}
		if (send.byteSize() > 0 && receive.byteSize() > 0 && sends != receives) {
			throw new IllegalArgumentException(
					"both buffers must be on the device or both in host memory; the send buffer is "
							+ (sends ? "on the device" : "in host memory"));
		}
		if (uneven) {
			throw new UnsupportedOperationException(
					"a call with counts by rank is not offered on device memory; pad the parts to one size");
		}
		NcclCodes.requireSupported(collective, op);
	}

	@Override
	public void requireMessageMemory(MemorySegment buffer) {
		int device = deviceOf(buffer);
		if (device != DeviceRuntime.NO_DEVICE) {
			throw new UnsupportedOperationException("messages need host memory, the buffer is on device " + device
					+ "; use a collective or a send of an NCCL rank communicator, or copy the data to host memory");
		}
	}

	private boolean isOnDevice(MemorySegment buffer) {
		int device = deviceOf(buffer);
		if (device != DeviceRuntime.NO_DEVICE && device != this.communicator.device()) {
			throw new IllegalArgumentException("the group works on device " + this.communicator.device()
					+ " on this rank, the buffer is on device " + device);
		}
		return device != DeviceRuntime.NO_DEVICE;
	}

	private int deviceOf(MemorySegment buffer) {
		return (buffer.isNative() && buffer.byteSize() > 0) ? deviceOf(buffer.address()) : DeviceRuntime.NO_DEVICE;
	}

	private int deviceOf(long address) {
		try (SelectedDevice _ = SelectedDevice.select(this.runtime, this.communicator.device())) {
			return this.runtime.deviceOf(address);
		}
	}

	@Override
	public void run(Call call) {
		if (isOnDevice(call.sendAddress(), call.sendBytes())
				|| isOnDevice(call.receiveAddress(), call.receiveBytes())) {
			runOnDevice(call);
			return;
		}
		this.host.run(call);
	}

	private boolean isOnDevice(long address, long bytes) {
		return bytes > 0 && deviceOf(address) != DeviceRuntime.NO_DEVICE;
	}

	private void runOnDevice(Call call) {
		call.algorithm(NAME);
		call.onDevice();
		this.sequence = call.sequence();
		this.running = call;
		this.reports.begun(call);
		try {
			StreamOperations operations = this.communicator.operations().within(call.deadline().remaining());
			operations.run(call.collective(), operands(call), DeviceReduction.of(call.op()), call.root());
			operations.await(call.collective().label(), Deadline.after(call.deadline().remaining()));
		}
		catch (NcclException ex) {
			throw failure(call, ex);
		}
		catch (DeviceException ex) {
			this.communicator.abort();
			throw this.identity.exception(this.identity.failure(Failure.Kind.ABORTED, call, ex.problem()), ex);
		}
		finally {
			this.running = null;
		}
	}

	private DeviceOperands operands(Call call) {
		long bytes = call.type().bytes();
		return new DeviceOperands(this.communicator.device(), call.sendAddress(), call.sendBytes() / bytes,
				call.receiveAddress(), call.receiveBytes() / bytes, DeviceDataType.of(call.type()));
	}

	/** Checked by the communicator while a call is in progress. */
	private boolean cannotComplete() {
		return this.latch.failure() != null || this.latch.departed().missingFrom(this.sequence) >= 0;
	}

	private CollectiveException failure(Call call, NcclException seen) {
		if (seen.reason() == NcclException.Reason.ERROR) {
			this.latch.await(VERDICT_WAIT);
		}
		Failure obstacle = this.latch.obstacleTo(call, this.identity);
		if (obstacle != null) {
			return following(this.identity, obstacle, seen);
		}
		Failure.Kind kind = (seen.reason() == NcclException.Reason.TIMEOUT) ? Failure.Kind.TIMEOUT
				: Failure.Kind.ABORTED;
		return this.identity.exception(this.identity.failure(kind, call, seen.problem()), seen);
	}

	/**
	 * The exception for a failure of the group of which that of NCCL or the device is a
	 * consequence. It is no cause of an abort, whose exit code would be that of the
	 * cause.
	 */
	static CollectiveException following(GroupIdentity identity, Failure failure, RankException seen) {
		return identity.exception(failure, (failure.kind() != Failure.Kind.ABORTED) ? seen : null);
	}

	@Override
	public MemorySegment allocate(long bytes, Arena arena, MetadataExchange exchange, Deadline deadline) {
		return this.host.allocate(bytes, arena, exchange, deadline);
	}

	@Override
	public void free(MemorySegment buffer) {
		this.host.free(buffer);
	}

	/**
	 * Aborts the communicator of a broken group, so that no device work is awaited. Uses
	 * a separate thread: an abort may take longer than the heartbeat timeout, and the
	 * caller may be the thread that sends the heartbeats.
	 */
	@Override
	public void wake() {
		this.host.wake();
		if (this.latch.failure() != null) {
			startAbort();
		}
	}

	private synchronized void startAbort() {
		if (this.aborting == null) {
			this.aborting = Thread.ofPlatform()
				.name("tutti-r" + this.identity.worldRank() + "-nccl-abort")
				.daemon()
				.start(this.communicator::abort);
		}
	}

	@Override
	public void close() {
		this.watchdog.close();
		this.reports.close();
		if (this.latch.failure() != null) {
			this.communicator.abort();
			awaitAbort();
		}
		CleanUp.runAll(List.of(this.communicator::close, this.host::close));
	}

	/** The communicator's stream is destroyed afterwards. */
	private void awaitAbort() {
		Thread started = this.aborting;
		try {
			if (started != null) {
				started.join(TimedLock.COURTESY);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
