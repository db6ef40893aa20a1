package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.BackendUnavailableException;
import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;

/**
 * Communicators for several GPUs of one process, driven by one thread at a time: rank
 * {@code i} is the i-th device. Each call restores the device that the calling thread had
 * selected.
 * <p>
 * They are created together on one thread: if each worker thread creates its own, devices
 * of different kinds interfere. {@link #split} then transfers them to the workers.
 */
public final class CommunicatorGroup implements AutoCloseable {

	private static final DeviceReduction NONE = DeviceReduction.of(ReduceOp.SUM);

	private final NcclCommunicator communicator;

	private final List<Integer> devices;

	private final List<NcclCalls> calls;

	private CommunicatorGroup(NcclCommunicator communicator) {
		this.communicator = communicator;
		this.devices = communicator.places().stream().map(RankPlacement::device).toList();
		NcclAvailability availability = communicator.library().availability();
		this.calls = communicator.places().stream().map((place) -> new NcclCalls(availability, place)).toList();
	}

	/**
	 * Creates communicators for some devices.
	 * @param devices at least 2 distinct devices
	 * @return the communicators
	 * @throws BackendUnavailableException if NCCL cannot be used in this process
	 * @throws NcclException if NCCL fails
	 */
	public static CommunicatorGroup create(List<Integer> devices) {
		requireDistinct(devices);
		return create(NcclLibrary.load(), devices);
	}

	static CommunicatorGroup create(NcclLibrary library, List<Integer> devices) {
		requireDistinct(devices);
		int count = library.runtime().deviceCount();
		devices.forEach((device) -> CudaDevices.requirePresent(device, count));
		List<RankPlacement> places = IntStream.range(0, devices.size())
			.mapToObj((rank) -> new RankPlacement(rank, devices.size(), devices.get(rank)))
			.toList();
		NcclCommunicator.HandleSlots slots = new NcclCommunicator.HandleSlots(devices.size());
		try (SelectedDevice _ = SelectedDevice.select(library.runtime(), devices.getFirst())) {
			NcclResult result = NcclResult.of(library.nccl()
				.commInitAll(slots.address(), devices.stream().mapToInt(Integer::intValue).toArray()));
			if (result != NcclResult.SUCCESS) {
				throw NcclException.error(places.getFirst(), "init of " + devices.size() + " devices", result,
						library.lastError());
			}
		}
		return new CommunicatorGroup(new NcclCommunicator(library, slots, places));
	}

	private static void requireDistinct(List<Integer> devices) {
		if (devices.size() < 2) {
			throw new IllegalArgumentException("devices must be at least 2, got " + devices);
		}
		if (new HashSet<>(devices).size() < devices.size()) {
			throw new IllegalArgumentException("devices must be distinct, got " + devices);
		}
	}

	/**
	 * Number of devices, which is the number of ranks; 0 once they are transferred or
	 * closed.
	 * @return the number
	 */
	public int size() {
		return isOpen() ? this.devices.size() : 0;
	}

	/**
	 * {@return the devices by rank}
	 */
	public List<Integer> devices() {
		return this.devices;
	}

	/**
	 * Every device receives the reduction of all operands, on the default streams.
	 * @param operands memory of each rank, by rank
	 * @param reduction how the operands are combined
	 */
	public void allReduce(List<DeviceOperands> operands, DeviceReduction reduction) {
		allReduce(operands, reduction, defaultStreams());
	}

	/**
	 * {@link #allReduce(List, DeviceReduction)} on one stream per device.
	 * @param operands memory of each rank, by rank
	 * @param reduction how the operands are combined
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void allReduce(List<DeviceOperands> operands, DeviceReduction reduction, List<Long> streams) {
		run(Collective.ALL_REDUCE, operands, reduction, 0, streams);
	}

	/**
	 * Every device receives the root's send buffer, on the default streams.
	 * @param operands memory of each rank, by rank
	 * @param root rank of the root, in {@code 0..size-1}
	 */
	public void broadcast(List<DeviceOperands> operands, int root) {
		broadcast(operands, root, defaultStreams());
	}

	/**
	 * {@link #broadcast(List, int)} on one stream per device.
	 * @param operands memory of each rank, by rank
	 * @param root rank of the root, in {@code 0..size-1}
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void broadcast(List<DeviceOperands> operands, int root, List<Long> streams) {
		run(Collective.BROADCAST, operands, NONE, root, streams);
	}

	/**
	 * The root receives the reduction of all operands.
	 * @param operands memory of each rank, by rank
	 * @param reduction how the operands are combined
	 * @param root rank of the root, in {@code 0..size-1}
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void reduce(List<DeviceOperands> operands, DeviceReduction reduction, int root, List<Long> streams) {
		run(Collective.REDUCE, operands, reduction, root, streams);
	}

	/**
	 * Every device receives the parts of all devices in rank order.
	 * @param operands memory of each rank, by rank
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void allGather(List<DeviceOperands> operands, List<Long> streams) {
		run(Collective.ALL_GATHER, operands, NONE, 0, streams);
	}

	/**
	 * Every device receives its own part of the reduction.
	 * @param operands memory of each rank, by rank
	 * @param reduction how the operands are combined
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void reduceScatter(List<DeviceOperands> operands, DeviceReduction reduction, List<Long> streams) {
		run(Collective.REDUCE_SCATTER, operands, reduction, 0, streams);
	}

	/**
	 * The root receives the parts of all devices in rank order.
	 * @param operands memory of each rank, by rank
	 * @param root rank of the root, in {@code 0..size-1}
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void gather(List<DeviceOperands> operands, int root, List<Long> streams) {
		run(Collective.GATHER, operands, NONE, root, streams);
	}

	/**
	 * Every device receives its own part of the root's send buffer.
	 * @param operands memory of each rank, by rank
	 * @param root rank of the root, in {@code 0..size-1}
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void scatter(List<DeviceOperands> operands, int root, List<Long> streams) {
		run(Collective.SCATTER, operands, NONE, root, streams);
	}

	/**
	 * Every device receives its part of each device's send buffer, in rank order.
	 * @param operands memory of each rank, by rank
	 * @param streams handle of a CUDA stream of each device, by rank
	 */
	public void allToAll(List<DeviceOperands> operands, List<Long> streams) {
		run(Collective.ALL_TO_ALL, operands, NONE, 0, streams);
	}

	private List<Long> defaultStreams() {
		return Collections.nCopies(this.devices.size(), DeviceRuntime.DEFAULT_STREAM);
	}

	private void run(Collective collective, List<DeviceOperands> operands, DeviceReduction reduction, int root,
			List<Long> streams) {
		requireOnePerDevice("buffers", operands.size());
		requireOnePerDevice("streams", streams.size());
		GroupedCalls grouped = new GroupedCalls();
		for (int rank = 0; rank < this.devices.size(); rank++) {
			grouped.add(onDevice(rank,
					this.calls.get(rank).of(collective, operands.get(rank), reduction, root, streams.get(rank))));
		}
		requireAlike(collective, operands);
		try {
			this.communicator.issueBlocking(collective.label(), grouped);
		}
		catch (NcclException | DeviceException ex) {
			abort();
			throw ex;
		}
	}

	/** NCCL does not compare them: it waits forever or moves wrong data. */
	private void requireAlike(Collective collective, List<DeviceOperands> operands) {
		DeviceOperands first = operands.getFirst();
		long count = this.calls.getFirst().count(collective, first);
		for (int rank = 1; rank < operands.size(); rank++) {
			DeviceOperands other = operands.get(rank);
			long otherCount = this.calls.get(rank).count(collective, other);
			if (otherCount != count || other.type() != first.type()) {
				throw new IllegalArgumentException("every rank needs the same count and type for " + collective.label()
						+ ", got " + count + " of " + first.type() + " on rank 0 and " + otherCount + " of "
						+ other.type() + " on rank " + rank);
			}
		}
	}

	/**
	 * A call for one rank, with its communicator and its device. An abort that did not
	 * wait for an earlier rank's call has already freed this rank's communicator.
	 */
	private NcclCommunicator.Issue onDevice(int rank, NcclCommunicator.Issue issue) {
		return (nccl, _) -> {
			if (this.communicator.state() == NcclCommunicator.State.ABORTED) {
				return NcclResult.INVALID_USAGE.ordinal();
			}
			try (SelectedDevice _ = SelectedDevice.select(runtime(), this.devices.get(rank))) {
				return issue.on(nccl, this.communicator.handle(rank));
			}
		};
	}

	private DeviceRuntime runtime() {
		return this.communicator.library().runtime();
	}

	private void requireOnePerDevice(String name, int count) {
		if (count != this.devices.size()) {
			throw new IllegalArgumentException(
					"expected " + this.devices.size() + " " + name + " (one per device), got " + count);
		}
	}

	private boolean isOpen() {
		return this.communicator.state() == NcclCommunicator.State.OPEN;
	}

	/**
	 * Waits until all work on the default streams is complete.
	 * @param timeout limit of the wait
	 */
	public void synchronize(Duration timeout) {
		synchronize(defaultStreams(), timeout);
	}

	/**
	 * Waits until all work on the streams, one per device, is complete.
	 * @param streams handle of a CUDA stream of each device, by rank
	 * @param timeout limit of the wait
	 * @throws NcclException if that exceeds the timeout or the thread is interrupted; all
	 * communicators are then aborted
	 */
	public void synchronize(List<Long> streams, Duration timeout) {
		requireOnePerDevice("streams", streams.size());
		List<Integer> pending = new ArrayList<>(IntStream.range(0, this.devices.size()).boxed().toList());
		boolean done = IdleStrategy.await(() -> {
			pending.removeIf((rank) -> isOpen() && isIdle(rank, streams.get(rank)));
			return pending.isEmpty() || !isOpen();
		}, Deadline.after(timeout));
		this.communicator.requireOpen("synchronize");
		if (!done) {
			abort();
			RankPlacement place = this.communicator.places().get(pending.getFirst());
			throw Thread.currentThread().isInterrupted() ? NcclException.interrupted(place, "synchronize")
					: NcclException.timeout(place, "synchronize", timeout);
		}
	}

	private boolean isIdle(int rank, long stream) {
		try (SelectedDevice _ = SelectedDevice.select(runtime(), this.devices.get(rank))) {
			return runtime().isIdle(stream);
		}
	}

	/**
	 * Transfers the communicators, by rank, each to a worker thread that uses and closes
	 * it. This group is empty afterwards, and closing it has no effect. The communicators
	 * are blocking: the first collective of a rank may wait inside NCCL until all ranks
	 * have called it. The timeout does not limit that wait, which ends when the rank's
	 * communicator is aborted from another thread.
	 * @param timeout limit for each call of a rank, except for that wait
	 * @return the communicators by rank
	 */
	public List<RankCommunicator> split(Duration timeout) {
		this.communicator.transfer("split");
		return IntStream.range(0, this.devices.size())
			.mapToObj((rank) -> RankCommunicator.adopt(this.communicator, rank, timeout))
			.toList();
	}

	/**
	 * Aborts all communicators, including calls in progress; from any thread. Only the
	 * first close or abort has an effect.
	 */
	public void abort() {
		this.communicator.abort();
	}

	/**
	 * Destroys all communicators; aborts them if a call on another thread does not end
	 * soon, since a communicator must not be destroyed while a call uses it. Has no
	 * effect once they are transferred or ended.
	 */
	@Override
	public void close() {
		this.communicator.close(Deadline.after(TimedLock.COURTESY), (_, _) -> NcclResult.SUCCESS.ordinal());
	}

}
