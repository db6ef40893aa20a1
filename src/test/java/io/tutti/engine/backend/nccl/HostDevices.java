package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.DeviceRuntime;
import io.tutti.engine.spi.NativeMemory;

/**
 * Simulated devices with memory in host memory. Work queued on a stream runs in order
 * when the stream is polled, up to the first item that cannot run yet.
 */
public final class HostDevices implements DeviceRuntime {

	/** Work queued on a stream; returns whether it is done. */
	interface Work {

		boolean attempt();

	}

	private final int devices;

	private final ThreadLocal<Integer> current = ThreadLocal.withInitial(() -> 0);

	/** An allocation. */
	private record Piece(Arena arena, long bytes, int device) {
	}

	private final ConcurrentNavigableMap<Long, Piece> memory = new ConcurrentSkipListMap<>();

	private final Set<Long> gone = ConcurrentHashMap.newKeySet();

	private final Set<Long> pinned = ConcurrentHashMap.newKeySet();

	/**
	 * Devices with a context, which a selection creates, and any call that needs the
	 * selected device.
	 */
	private final Set<Integer> used = ConcurrentHashMap.newKeySet();

	private final Map<Long, Queue<Work>> streams = new ConcurrentHashMap<>();

	private final AtomicLong nextStream = new AtomicLong(0x5000);

	final AtomicInteger streamsMade = new AtomicInteger();

	final AtomicInteger streamsGone = new AtomicInteger();

	final AtomicInteger copies = new AtomicInteger();

	private final AtomicInteger pinnedAllocations = new AtomicInteger();

	private volatile boolean refusesStreams;

	private volatile boolean interruptsWaits;

	private volatile boolean stalled;

	private volatile boolean stallsStreams;

	private volatile boolean outOfMemory;

	private volatile boolean driverRefused;

	private volatile boolean broken;

	/** A device that can no longer be selected. */
	volatile int lost = NO_DEVICE;

	public HostDevices(int devices) {
		this.devices = devices;
	}

	void queue(long stream, Work work) {
		queueOf(stream).add(work);
	}

	/**
	 * Queues work on the default stream of the current device that is never done and
	 * interrupts a thread that looks at it.
	 */
	public void interruptWaits() {
		queue(DEFAULT_STREAM, HostDevices::interrupt);
	}

	/** Queues such work on each new stream. */
	public void interruptWaitsOnStreams() {
		this.interruptsWaits = true;
	}

	/**
	 * Queues work on the default stream of the current device that is done once the
	 * devices resume.
	 */
	public void stall() {
		this.stalled = true;
		queue(DEFAULT_STREAM, () -> !this.stalled);
	}

	/** Queues such work on each new stream. */
	public void stallStreams() {
		this.stalled = true;
		this.stallsStreams = true;
	}

	/** Ends the work that stalls. */
	public void resume() {
		this.stalled = false;
	}

	/**
	 * Queues work on the default stream of the current device that accesses illegal
	 * memory: the query that meets the error fails, and all that follows, as with CUDA.
	 */
	public void breakOnWork() {
		queue(DEFAULT_STREAM, () -> {
			this.broken = true;
			requireIntact("cudaStreamQuery");
			return false;
		});
	}

	/** Makes all that follows fail, as after an illegal memory access with CUDA. */
	public void breakDown() {
		this.broken = true;
	}

	private void requireIntact(String call) {
		this.used.add(currentDevice());
		if (this.broken) {
			throw new DeviceException(call, 700, "an illegal memory access was encountered");
		}
	}

	private static boolean interrupt() {
		Thread.currentThread().interrupt();
		return false;
	}

	/** Each device has its own default stream. */
	private Queue<Work> queueOf(long stream) {
		long key = (stream == DEFAULT_STREAM) ? -1 - currentDevice() : stream;
		return this.streams.computeIfAbsent(key, (_) -> new ConcurrentLinkedQueue<>());
	}

	/** Number of allocations that have not been freed. */
	public int allocations() {
		return this.memory.size();
	}

	/** Number of pinned allocations that have not been freed. */
	public int pinned() {
		return this.pinned.size();
	}

	/** Number of pinned allocations ever made. */
	public int pinnedAllocations() {
		return this.pinnedAllocations.get();
	}

	/** Makes the creation of streams fail from now on. */
	public void refuseStreams() {
		this.refusesStreams = true;
	}

	/** Makes allocations fail from now on. */
	public void exhaustMemory() {
		this.outOfMemory = true;
	}

	/** Number of queued copies. */
	public int copies() {
		return this.copies.get();
	}

	/** Makes the driver too old for the runtime from now on. */
	public void refuseDriver() {
		this.driverRefused = true;
	}

	@Override
	public int deviceCount() {
		if (this.driverRefused) {
			throw new DeviceException("cudaGetDeviceCount", 35,
					"CUDA driver version is insufficient for CUDA runtime version");
		}
		return this.devices;
	}

	@Override
	public int currentDevice() {
		return this.current.get();
	}

	@Override
	public void selectDevice(int device) {
		if (device < 0 || device >= this.devices || device == this.lost) {
			throw new DeviceException("cudaSetDevice", 101, "invalid device ordinal");
		}
		this.current.set(device);
		this.used.add(device);
	}

	@Override
	public boolean isInUse(int device) {
		return this.used.contains(device);
	}

	/** The devices on which this process uses memory. */
	public Set<Integer> used() {
		return this.used;
	}

	@Override
	public long allocate(long bytes) {
		requireIntact("cudaMalloc");
		if (this.outOfMemory) {
			throw new DeviceException("cudaMalloc", 2, "out of memory");
		}
		Arena arena = Arena.ofShared();
		MemorySegment segment = arena.allocate(bytes, 256);
		this.memory.put(segment.address(), new Piece(arena, bytes, currentDevice()));
		return segment.address();
	}

	@Override
	public void free(long address) {
		requireIntact("cudaFree");
		Piece piece = this.memory.remove(address);
		if (piece == null) {
			throw new DeviceException("cudaFree", 1, "invalid argument");
		}
		piece.arena().close();
	}

	@Override
	public long allocatePinned(long bytes) {
		long address = allocate(bytes);
		this.pinned.add(address);
		this.pinnedAllocations.incrementAndGet();
		return address;
	}

	@Override
	public void freePinned(long address) {
		if (!this.pinned.remove(address)) {
			throw new AssertionError("pinned memory was freed twice");
		}
		free(address);
	}

	@Override
	public int deviceOf(long address) {
		requireIntact("cudaPointerGetAttributes");
		Map.Entry<Long, Piece> piece = this.memory.floorEntry(address);
		boolean found = piece != null && address < piece.getKey() + piece.getValue().bytes()
				&& !this.pinned.contains(piece.getKey());
		return found ? piece.getValue().device() : NO_DEVICE;
	}

	@Override
	public void copy(long target, long source, long bytes, long stream) {
		this.copies.incrementAndGet();
		queue(stream, () -> {
			NativeMemory.copy(source, target, bytes);
			return true;
		});
	}

	@Override
	public long createStream() {
		if (this.refusesStreams) {
			throw new DeviceException("cudaStreamCreateWithFlags", 2, "out of memory");
		}
		requireIntact("cudaStreamCreateWithFlags");
		this.streamsMade.incrementAndGet();
		long stream = this.nextStream.incrementAndGet();
		if (this.interruptsWaits) {
			queue(stream, HostDevices::interrupt);
		}
		if (this.stallsStreams) {
			queue(stream, () -> !this.stalled);
		}
		return stream;
	}

	@Override
	public void destroyStream(long stream) {
		requireIntact("cudaStreamDestroy");
		this.gone.add(stream);
		this.streamsGone.incrementAndGet();
	}

	@Override
	public boolean isIdle(long stream) {
		requireIntact("cudaStreamQuery");
		if (this.gone.contains(stream)) {
			throw new AssertionError("a stream was looked at after it was given back");
		}
		Queue<Work> queue = queueOf(stream);
		synchronized (queue) {
			for (Work work = queue.peek(); work != null; work = queue.peek()) {
				if (!work.attempt()) {
					return false;
				}
				queue.remove();
			}
			return true;
		}
	}

	/** Writes device memory. */
	public static void write(long address, float... values) {
		for (int index = 0; index < values.length; index++) {
			NativeMemory.putFloat(address + 4L * index, values[index]);
		}
	}

	/** Reads device memory. */
	public static float[] read(long address, int count) {
		float[] values = new float[count];
		for (int index = 0; index < count; index++) {
			values[index] = NativeMemory.getFloat(address + 4L * index);
		}
		return values;
	}

}
