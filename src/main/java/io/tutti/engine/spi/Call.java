package io.tutti.engine.spi;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * The backend's view of one collective call: operation, native buffers and deadline.
 * Mutable, since a group reuses one instance for all its calls to avoid allocation. A
 * backend reads it and keeps no reference after it returns.
 */
public final class Call {

	/** An odd number without a pattern. */
	private static final long HASH_FACTOR = 0x9E37_79B9_7F4A_7C15L;

	private final Deadline deadline = new Deadline();

	private final UnevenCounts uneven;

	private final @Nullable CallObserver observer;

	/** The issued call that this one is a part of; {@code this} for an issued call. */
	private Call issued = this;

	private boolean reportedWaiting;

	/** A hash of everything that ranks had to agree on in earlier calls. */
	private int history;

	private long sequence = -1;

	private Collective collective = Collective.BARRIER;

	private DataType type = DataType.FLOAT32;

	private ReduceOp op = ReduceOp.SUM;

	private int root;

	private long count;

	private long sendAddress;

	private long sendBytes;

	private long receiveAddress;

	private long receiveBytes;

	private MemorySegment.@Nullable Scope sendMemory;

	private MemorySegment.@Nullable Scope receiveMemory;

	private String algorithm = "";

	private String label = "";

	private boolean onDevice;

	public Call(int worldSize, @Nullable CallObserver observer) {
		this.observer = observer;
		this.uneven = new UnevenCounts(worldSize);
	}

	/**
	 * A call that a backend uses to execute parts of issued calls.
	 * @param worldSize number of ranks that take part
	 * @see #partOf
	 */
	public static Call forParts(int worldSize) {
		return new Call(worldSize, null);
	}

	/**
	 * Becomes a part of an issued call: takes over its sequence number, fingerprint,
	 * deadline and type, and replaces an average by a sum. {@link #place} sets the
	 * buffers.
	 * @param count as {@link #count()}, of the part
	 * @param root root among the ranks that take part
	 */
	public Call partOf(Call whole, Collective collective, long count, int root) {
		this.issued = whole;
		describe(whole.sequence, collective, count, whole.type,
				(whole.op == ReduceOp.AVERAGE) ? ReduceOp.SUM : whole.op, root);
		place(0, 0, 0, 0);
		return this;
	}

	public void describe(long sequence, Collective collective, long count, DataType type, @Nullable ReduceOp op,
			int root) {
		if (this.sequence >= 0) {
			this.history = nextHistory();
		}
		this.reportedWaiting = false;
		this.algorithm = "";
		this.onDevice = false;
		this.sequence = sequence;
		this.collective = collective;
		this.count = count;
		this.type = type;
		this.op = (op != null) ? op : ReduceOp.SUM;
		this.root = root;
	}

	private int nextHistory() {
		long hash = (this.history ^ this.count) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ operationBits()) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ countsDigest()) * HASH_FACTOR;
		return (int) (hash >>> 32);
	}

	/** Collective, type, operator and root in one word. */
	public long operationBits() {
		return (long) this.root << 32 | (long) this.collective.ordinal() << 16 | (long) this.type.ordinal() << 8
				| this.op.ordinal();
	}

	/** Sets the caller's label of the call; empty for none. */
	public void label(String label) {
		this.label = label;
	}

	/** The caller's label of the call; empty for none. */
	public String label() {
		return this.label;
	}

	public void counts(long @Nullable [] send, long @Nullable [] receive) {
		this.uneven.set(send, receive);
	}

	/**
	 * Sets the digest of the sizes of a list of buffers of which this call has one or
	 * packs some. Ranks must agree on the whole list: with another order the elements of
	 * different buffers would be combined.
	 * @param sizes see {@link #digestOfSizes}
	 */
	public void bufferSizes(int sizes) {
		this.uneven.setSizes(sizes);
	}

	/** Digest of the sizes in bytes of a list of buffers, in order. */
	public static int digestOfSizes(long[] bytes) {
		return UnevenCounts.digestOfSizes(bytes);
	}

	public void place(long sendAddress, long sendBytes, long receiveAddress, long receiveBytes) {
		this.sendAddress = sendAddress;
		this.sendBytes = sendBytes;
		this.receiveAddress = receiveAddress;
		this.receiveBytes = receiveBytes;
	}

	/** Sets the memory of the caller's buffers, {@code null} after the call. */
	public void memory(MemorySegment.@Nullable Scope send, MemorySegment.@Nullable Scope receive) {
		this.sendMemory = send;
		this.receiveMemory = receive;
	}

	/**
	 * The memory of the caller's buffers, which stays allocated while it is reachable.
	 */
	public List<MemorySegment.Scope> memoryScopes() {
		return Stream.of(this.sendMemory, this.receiveMemory).filter(Objects::nonNull).toList();
	}

	/**
	 * Checks after a pause, or after their bytes were copied, that the caller's buffers
	 * are still open: other memory may have come to their addresses.
	 * @throws IllegalStateException if one was closed
	 */
	public void requireOpenBuffers() {
		// The copy is of plain loads, which must not pass the load of the state.
		VarHandle.acquireFence();
		requireOpen(this.issued.sendMemory);
		requireOpen(this.issued.receiveMemory);
	}

	private static void requireOpen(MemorySegment.@Nullable Scope memory) {
		if (memory != null && !memory.isAlive()) {
			throw new IllegalStateException("a buffer was closed");
		}
	}

	/** The issued call that this one is a part of; {@code this} for an issued call. */
	public Call issued() {
		return this.issued;
	}

	/** Sequence number in the group's issue order, from 0. */
	public long sequence() {
		return this.sequence;
	}

	/** The operation to execute. */
	public Collective collective() {
		return this.collective;
	}

	/** Element type; {@link DataType#FLOAT32} if the collective has none. */
	public DataType type() {
		return this.type;
	}

	/** Operator; {@link ReduceOp#SUM} if the collective has none. */
	public ReduceOp op() {
		return this.op;
	}

	/** Root rank; 0 if the collective has none. */
	public int root() {
		return this.root;
	}

	/**
	 * Number of elements, the same on every rank. For all-reduce, reduce and broadcast:
	 * elements of the whole buffer. For a collective whose buffer holds a part for each
	 * rank: elements of one part. For an uneven call: elements of all parts together, or
	 * 0 for an all-to-all, in which the ranks' counts may differ.
	 */
	public long count() {
		return this.count;
	}

	/** {@link #count()} in bytes. */
	public long bytes() {
		return this.count * this.type.bytes();
	}

	/** Whether the parts of the ranks differ in size, by {@link #sendCounts()}. */
	public boolean uneven() {
		return this.uneven.used();
	}

	/**
	 * Elements by rank of an uneven call: sent to each rank in an all-to-all; each rank's
	 * part in an all-gather, reduce-scatter, gather or scatter. Read-only.
	 */
	public long[] sendCounts() {
		return this.uneven.send();
	}

	/**
	 * Elements by rank of an uneven call: received from each rank in an all-to-all; each
	 * rank's part in an all-gather, reduce-scatter, gather or scatter. Read-only.
	 */
	public long[] receiveCounts() {
		return this.uneven.receive();
	}

	/**
	 * Digest of the counts of an uneven call, or of the sizes of several buffers, in the
	 * fingerprint; 0 for an even call on one buffer.
	 */
	public int countsDigest() {
		return this.uneven.digest();
	}

	/** Native address of this rank's contribution. */
	public long sendAddress() {
		return this.sendAddress;
	}

	/** Size of this rank's contribution in bytes; 0 if there is none. */
	public long sendBytes() {
		return this.sendBytes;
	}

	/**
	 * Native address of the result; the same as {@link #sendAddress()} for a call in
	 * place.
	 */
	public long receiveAddress() {
		return this.receiveAddress;
	}

	/** Size of this rank's result in bytes; 0 if there is none. */
	public long receiveBytes() {
		return this.receiveBytes;
	}

	/**
	 * Notifies the observer that the call has waited long for other ranks, so that the
	 * ranks' calls are compared. Only the first notification of a call has an effect.
	 */
	public void waited() {
		if (!this.issued.reportedWaiting) {
			this.issued.reportedWaiting = true;
			CallObserver observer = this.issued.observer;
			if (observer != null) {
				observer.waited(this.issued);
			}
		}
	}

	/**
	 * Notifies the observer that another rank is in the same call but has different
	 * earlier calls, so that the earlier calls are compared.
	 */
	public void disputed() {
		CallObserver observer = this.issued.observer;
		if (observer != null) {
			observer.disputed(this.issued);
		}
	}

	/**
	 * A hash of everything that ranks had to agree on in all earlier calls of the group.
	 */
	public int history() {
		return this.history;
	}

	/** Sets the name of the algorithm; a backend passes one of a few constants. */
	public void algorithm(String algorithm) {
		this.algorithm = algorithm;
	}

	/**
	 * Marks the buffers as device memory. A backend calls this before it reports the
	 * call.
	 */
	public void onDevice() {
		this.onDevice = true;
	}

	/** Memory kind of the buffers; host memory unless a backend has set device memory. */
	public MemoryKind memory() {
		return this.onDevice ? MemoryKind.DEVICE : MemoryKind.HOST;
	}

	/** Name of the algorithm; empty until the backend has set it. */
	public String algorithm() {
		return this.algorithm;
	}

	/** A failure of this call or of the issued call that it is a part of. */
	public Failure failure(Failure.Kind kind, String group, List<Integer> worldRanks, String detail) {
		return new Failure(kind, group, this.sequence, this.issued.collective, worldRanks, detail,
				this.issued.deadline.elapsed(), this.issued.deadline.timeout());
	}

	/**
	 * The same failure with this call in its message, unless it already names a call: a
	 * lost rank or an abort reaches each rank in a different call. A label is always
	 * added, since it is this rank's.
	 */
	public CollectiveException named(CollectiveException cause, String group) {
		return (cause.failure().collective() != null && this.issued.label.isEmpty()) ? cause
				: cause.during(this.issued.collective + " #" + this.sequence + quotedLabel(), group,
						this.issued.collective, this.sequence, this.issued.deadline.elapsed());
	}

	private String quotedLabel() {
		return this.issued.label.isEmpty() ? "" : " \"" + this.issued.label + "\"";
	}

	/** Deadline of the whole call. */
	public Deadline deadline() {
		return this.issued.deadline;
	}

	/**
	 * The call in words, such as
	 * {@code all-reduce #7 (count 1024, float32, sum, root 0)}.
	 */
	@Override
	public String toString() {
		return this.collective + " #" + this.sequence + " (count " + this.count + ", " + this.type + ", " + this.op
				+ ", root " + this.root + ")";
	}

}
