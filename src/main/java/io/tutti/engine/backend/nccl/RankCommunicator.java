package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;

import io.tutti.BackendUnavailableException;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * One rank's communicator: one process or thread per GPU. Any thread may use it; calls
 * from several threads run one at a time. Creation and every call have a limit, after
 * which the communicator is aborted, except as {@link CommunicatorGroup#split} says.
 */
public final class RankCommunicator implements AutoCloseable {

	/** Limit for an orderly close, after which the communicator is aborted. */
	private static final Duration CLOSING = Duration.ofSeconds(10);

	private final NcclCommunicator communicator;

	private final boolean ownsStream;

	private final Duration timeout;

	private final StreamOperations operations;

	private final AtomicBoolean closed = new AtomicBoolean();

	private @Nullable DeviceBuffer barrierElement;

	private RankCommunicator(NcclCommunicator communicator, @Nullable Long given, Duration timeout) {
		this.communicator = communicator;
		this.timeout = timeout;
		long stream = (given != null) ? given : ownStream(communicator.library().runtime(), device());
		this.ownsStream = given == null && stream != DeviceRuntime.DEFAULT_STREAM;
		this.operations = operations(stream);
	}

	/** Uses the default stream if a stream cannot be created. */
	private static long ownStream(DeviceRuntime runtime, int device) {
		try (SelectedDevice _ = SelectedDevice.select(runtime, device)) {
			return runtime.createStream();
		}
		catch (DeviceException ex) {
			return DeviceRuntime.DEFAULT_STREAM;
		}
	}

	/**
	 * Creates an id for a new communicator, on one rank, to be sent to the other ranks.
	 * @return the id, for one communicator only
	 * @throws BackendUnavailableException if NCCL cannot be used in this process
	 */
	public static UniqueId newId() {
		return newId(NcclLibrary.load());
	}

	static UniqueId newId(NcclLibrary library) {
		byte[] id = new byte[UniqueId.BYTES];
		NcclResult result = NcclResult.of(library.nccl().getUniqueId(id));
		if (result != NcclResult.SUCCESS) {
			throw NcclException.error(new RankPlacement(0, 1, 0), "creation of a unique id", result,
					library.lastError());
		}
		return UniqueId.fromBytes(id);
	}

	/**
	 * Creates a communicator with its own stream. Every rank calls it at about the same
	 * time.
	 * @param id the id that one rank has created, the same on every rank
	 * @param place rank, world size and device
	 * @param timeout limit for the creation and for each later call
	 * @return the communicator, which the caller closes
	 * @throws BackendUnavailableException if NCCL cannot be used in this process
	 * @throws NcclException if the creation misses the deadline or NCCL fails
	 */
	public static RankCommunicator create(UniqueId id, RankPlacement place, Duration timeout) {
		return create(NcclLibrary.load(), id, place, null, timeout);
	}

	/**
	 * {@link #create(UniqueId, RankPlacement, Duration)} on the caller's stream, which
	 * the caller still owns.
	 * @param id the id that one rank has created, the same on every rank
	 * @param place rank, world size and device
	 * @param stream handle of a CUDA stream of this rank's device, which the caller owns
	 * @param timeout limit for the creation and for each later call
	 * @return the communicator, which the caller closes
	 */
	public static RankCommunicator create(UniqueId id, RankPlacement place, long stream, Duration timeout) {
		return create(NcclLibrary.load(), id, place, stream, timeout);
	}

	static RankCommunicator create(NcclLibrary library, UniqueId id, RankPlacement place, @Nullable Long stream,
			Duration timeout) {
		return create(library, id, place, stream, timeout, () -> false);
	}

	/**
	 * @param hopeless whether the creation, or a later call, cannot complete
	 */
	static RankCommunicator create(NcclLibrary library, UniqueId id, RankPlacement place, @Nullable Long stream,
			Duration timeout, BooleanSupplier hopeless) {
		CudaDevices.requirePresent(place.device(), library.runtime().deviceCount());
		Deadline deadline = Deadline.after(timeout);
		try (SelectedDevice _ = SelectedDevice.select(library.runtime(), place.device())) {
			NcclCommunicator.HandleSlots slot = new NcclCommunicator.HandleSlots(1);
			NcclResult result = NcclResult
				.of(library.nccl().commInitRankConfig(slot.address(), place.worldSize(), id.asBytes(), place.rank()));
			if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS) {
				throw NcclException.error(place, "init", result, library.lastError());
			}
			NcclCommunicator communicator = new NcclCommunicator(library, slot, List.of(place));
			communicator.abortIf(hopeless);
			ready(communicator, () -> communicator.awaitReady("init", deadline));
			return new RankCommunicator(communicator, stream, timeout);
		}
		catch (DeviceException ex) {
			throw ex.onRank(place.rank(), place.worldSize());
		}
	}

	/** Aborts a communicator that does not become ready, since no caller owns it yet. */
	private static void ready(NcclCommunicator communicator, Runnable steps) {
		try {
			steps.run();
		}
		catch (RuntimeException ex) {
			communicator.abort();
			throw ex;
		}
	}

	/** Takes ownership of one of several communicators. */
	static RankCommunicator adopt(NcclCommunicator all, int index, Duration timeout) {
		return new RankCommunicator(new NcclCommunicator(all.library(),
				NcclCommunicator.HandleSlots.of(all.handle(index)), List.of(all.places().get(index))), null, timeout);
	}

	/**
	 * {@return this rank}
	 */
	public int rank() {
		return this.communicator.place().rank();
	}

	/**
	 * {@return the number of ranks}
	 */
	public int worldSize() {
		return this.communicator.place().worldSize();
	}

	/**
	 * {@return the device of this communicator}
	 */
	public int device() {
		return this.communicator.place().device();
	}

	/**
	 * NCCL's handle, for calls that this class does not offer.
	 * @return a value of type {@code ncclComm_t}
	 */
	public long handle() {
		return this.communicator.handle();
	}

	/**
	 * Calls on this communicator's stream.
	 * @return the operations
	 */
	public StreamOperations operations() {
		return this.operations;
	}

	/**
	 * Calls on a caller's stream; the caller orders them against calls on other streams.
	 * @param stream handle of a CUDA stream of this rank's device, which the caller owns
	 * @return the operations
	 */
	public StreamOperations operations(long stream) {
		return new StreamOperations(this.communicator, stream, this.timeout);
	}

	private NcclLibrary library() {
		return this.communicator.library();
	}

	/** Waits until all work on this communicator's stream is complete. */
	public void synchronize() {
		this.operations.synchronize();
	}

	/** Returns once every rank has called it. */
	public synchronized void barrier() {
		DeviceBuffer element = this.barrierElement;
		if (element == null) {
			element = DeviceBuffer.allocate(library().runtime(), device(), 1, DeviceDataType.INT32);
			this.barrierElement = element;
		}
		this.operations.allReduce(DeviceOperands.inPlace(element), DeviceReduction.of(ReduceOp.MAX));
		this.operations.synchronize();
	}

	/**
	 * Checks for an asynchronous error.
	 * @throws NcclException if there is one; the communicator has then failed
	 */
	void check() {
		this.communicator.check("watchdog", Deadline.after(this.timeout));
	}

	/** Aborts while a call is in progress that cannot complete. */
	void abortIf(BooleanSupplier condition) {
		this.communicator.abortIf(condition);
	}

	/**
	 * Splits the ranks by color, ordered by key. Every rank calls it.
	 * @param color part to join; negative for none
	 * @param key position among the ranks of a part; equal keys keep the order of ranks
	 * @return the part's communicator on this device, {@code null} for a negative color
	 * @throws UnsupportedOperationException if the installed library has no split
	 */
	public @Nullable RankCommunicator split(int color, int key) {
		library().availability().require(NcclFunction.SPLIT);
		return derived("split",
				(slot) -> (nccl, parent) -> nccl.commSplit(parent, Math.max(color, NcclCodes.NO_COLOR), key, slot));
	}

	/**
	 * Creates a communicator of the remaining ranks. Only these ranks call it.
	 * @param excluded ranks to exclude, at least one and never this rank
	 * @param afterFailure whether to abort calls in progress instead of waiting for them
	 * @return the new communicator, which the caller closes
	 * @throws UnsupportedOperationException if the installed library has no shrink
	 */
	public RankCommunicator shrink(Set<Integer> excluded, boolean afterFailure) {
		library().availability().require(NcclFunction.SHRINK);
		if (excluded.isEmpty() || excluded.contains(rank())) {
			throw new IllegalArgumentException(
					"excluded ranks must be at least one and not rank " + rank() + " itself, got " + excluded);
		}
		excluded.forEach((rank) -> this.communicator.place().requireRank("excluded rank", rank));
		int[] ranks = excluded.stream().mapToInt(Integer::intValue).sorted().toArray();
		int flags = afterFailure ? NcclCodes.SHRINK_ABORT : NcclCodes.SHRINK_DEFAULT;
		RankCommunicator rest = derived("shrink",
				(slot) -> (nccl, parent) -> nccl.commShrink(parent, ranks, slot, flags));
		if (rest == null) {
			throw new IllegalStateException("NCCL returned no communicator of the remaining ranks to rank " + rank());
		}
		return rest;
	}

	/** The new communicator's rank and world size are known to NCCL only. */
	private @Nullable RankCommunicator derived(String call, LongFunction<NcclCommunicator.Issue> derivation) {
		Deadline deadline = Deadline.after(this.timeout);
		NcclCommunicator.HandleSlots child = new NcclCommunicator.HandleSlots(1);
		NcclCommunicator made = new NcclCommunicator(library(), child, this.communicator.places());
		int[] rank = new int[1];
		int[] worldSize = new int[1];
		ready(made, () -> {
			this.communicator.issue(call, deadline, derivation.apply(child.address()), child);
			if (made.handle() != 0) {
				made.issue(call, deadline, (nccl, communicator) -> nccl.commUserRank(communicator, rank));
				made.issue(call, deadline, (nccl, communicator) -> nccl.commCount(communicator, worldSize));
			}
		});
		if (made.handle() == 0) {
			return null;
		}
		RankPlacement place = new RankPlacement(rank[0], worldSize[0], device());
		return new RankCommunicator(new NcclCommunicator(library(), child, List.of(place)), null, this.timeout);
	}

	/**
	 * Registers a buffer with NCCL, which can then transfer it without a copy.
	 * @param buffer memory on this device; must outlive the registration
	 * @return ends the registration when closed
	 * @throws UnsupportedOperationException if the installed library has no registration
	 */
	public BufferRegistration register(DeviceBuffer buffer) {
		library().availability().require(NcclFunction.REGISTER);
		library().availability().require(NcclFunction.DEREGISTER);
		return BufferRegistration.of(this.communicator, buffer, this.timeout);
	}

	/**
	 * Allocates memory on this device by {@code ncclMemAlloc}, so that network and NVLink
	 * fabric can access it directly.
	 * @param count number of elements
	 * @param type type of the elements
	 * @return a new buffer, which the caller closes before the communicator
	 * @throws UnsupportedOperationException if the installed library has no allocation
	 */
	public DeviceBuffer allocate(long count, DeviceDataType type) {
		library().availability().require(NcclFunction.MEM_ALLOC);
		library().availability().require(NcclFunction.MEM_FREE);
		DeviceBuffer.requireCount(count, type);
		long[] address = new long[1];
		long bytes = Math.max(1, count * type.bytes());
		this.communicator.manage("allocate", Deadline.after(this.timeout),
				(nccl, communicator) -> nccl.memAlloc(address, bytes));
		return DeviceBuffer.owned(device(), address[0], count, type, this::free);
	}

	private void free(long memory) {
		try (SelectedDevice _ = this.communicator.selectDevice()) {
			this.communicator.require("free", NcclResult.of(library().nccl().memFree(memory)));
		}
	}

	/**
	 * Aborts the communicator, from any thread, also while a call on another thread is
	 * stuck in it. Stuck kernels and calls end on this rank, and on other ranks as their
	 * connections fail. Only the first close or abort has an effect.
	 */
	public void abort() {
		this.communicator.abort();
	}

	/**
	 * Waits for issued calls, destroys the communicator and then its own stream, each
	 * once. After an abort only the stream is destroyed.
	 */
	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		try {
			this.communicator.close(Deadline.after(CLOSING), Nccl::commFinalize);
		}
		finally {
			release();
		}
	}

	private synchronized void release() {
		DeviceBuffer element = this.barrierElement;
		if (element != null) {
			element.close();
		}
		if (this.ownsStream) {
			try (SelectedDevice _ = this.communicator.selectDevice()) {
				library().runtime().destroyStream(this.operations.stream());
			}
		}
	}

	/** Omits the unique id. */
	@Override
	public String toString() {
		return "rank " + rank() + " of " + worldSize() + " on device " + device();
	}

}
