package io.tutti.engine.spi;

import java.util.List;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import org.jspecify.annotations.Nullable;

/**
 * One collective call as a backend sees it: what to do, on which native memory, by when.
 * Mutable because a group reuses one for all its calls, so that a call allocates nothing;
 * a backend reads it and keeps no reference after it returns.
 */
public final class Call {

	/** An odd number without a pattern. */
	private static final long HASH_FACTOR = 0x9E37_79B9_7F4A_7C15L;

	private final Deadline deadline = new Deadline();

	private final UnevenCounts uneven;

	private final @Nullable CallObserver observer;

	/** The call that this one is a part of, itself if it is one that was issued. */
	private Call issued = this;

	private boolean told;

	/** A hash of all that ranks had to agree on in the calls before. */
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

	private String algorithm = "";

	private boolean onDevice;

	public Call(int worldSize, @Nullable CallObserver observer) {
		this.observer = observer;
		this.uneven = new UnevenCounts(worldSize);
	}

	/**
	 * A call by which a backend carries out parts of others.
	 * @param worldSize ranks that take part
	 * @see #partOf
	 */
	public static Call forParts(int worldSize) {
		return new Call(worldSize, null);
	}

	/**
	 * Becomes a part of a call that was issued: has its place in the order, fingerprint,
	 * deadline and type, and averages by summing. What it works on is still to be said.
	 * @param count as {@link #count()}, of the part
	 * @param root rank among those that take part
	 */
	public Call partOf(Call whole, Collective collective, long count, int root) {
		this.issued = whole;
		describe(whole.sequence, collective, count, whole.type,
				(whole.op == ReduceOp.AVERAGE) ? ReduceOp.SUM : whole.op, root);
		place(0, 0, 0, 0);
		return this;
	}

	/** Says what this rank contributes to the part. */
	public Call from(long address, long bytes) {
		this.sendAddress = address;
		this.sendBytes = bytes;
		return this;
	}

	/** Says where the part's result goes. */
	public Call into(long address, long bytes) {
		this.receiveAddress = address;
		this.receiveBytes = bytes;
		return this;
	}

	public void describe(long sequence, Collective collective, long count, DataType type, @Nullable ReduceOp op,
			int root) {
		if (this.sequence >= 0) {
			this.history = nextHistory();
		}
		this.told = false;
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
		hash = (hash ^ hash >>> 32 ^ what()) * HASH_FACTOR;
		hash = (hash ^ hash >>> 32 ^ countsDigest()) * HASH_FACTOR;
		return (int) (hash >>> 32);
	}

	/** Collective, type, operator and root in one word. */
	public long what() {
		return (long) this.root << 32 | (long) this.collective.ordinal() << 16 | (long) this.type.ordinal() << 8
				| this.op.ordinal();
	}

	public void counts(long @Nullable [] send, long @Nullable [] receive) {
		this.uneven.set(send, receive);
	}

	public void place(long sendAddress, long sendBytes, long receiveAddress, long receiveBytes) {
		this.sendAddress = sendAddress;
		this.sendBytes = sendBytes;
		this.receiveAddress = receiveAddress;
		this.receiveBytes = receiveBytes;
	}

	/** The call that this one is a part of; itself, if it is one that was issued. */
	public Call issued() {
		return this.issued;
	}

	/** Place in the group's order of calls, from 0. */
	public long sequence() {
		return this.sequence;
	}

	/** What to do. */
	public Collective collective() {
		return this.collective;
	}

	/** Element type; {@link DataType#FLOAT32} where the collective has none. */
	public DataType type() {
		return this.type;
	}

	/** Operator; {@link ReduceOp#SUM} where the collective has none. */
	public ReduceOp op() {
		return this.op;
	}

	/** Root rank; 0 where the collective has none. */
	public int root() {
		return this.root;
	}

	/**
	 * Elements, the same on every rank: of the whole buffer where every rank's has one
	 * size (all-reduce, reduce, broadcast), of one rank's part where the buffer holds a
	 * part for each rank. Of an uneven call: of all parts together; 0 for an uneven
	 * all-to-all, where ranks need not agree.
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
	 * Elements by rank of an uneven call: what goes to each rank of an all-to-all; each
	 * rank's part of an all-gather or reduce-scatter. Not to be changed.
	 */
	public long[] sendCounts() {
		return this.uneven.send();
	}

	/**
	 * Elements by rank of an uneven call: what comes from each rank of an all-to-all;
	 * each rank's part of an all-gather or reduce-scatter. Not to be changed.
	 */
	public long[] receiveCounts() {
		return this.uneven.receive();
	}

	/**
	 * What stands in the fingerprint for the counts of an uneven call; 0 for an even one.
	 */
	public int countsDigest() {
		return this.uneven.digest();
	}

	/** Native address of what this rank contributes. */
	public long sendAddress() {
		return this.sendAddress;
	}

	/** Size of what this rank contributes; 0 where it contributes nothing. */
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

	/** Size of this rank's result; 0 where it gets none. */
	public long receiveBytes() {
		return this.receiveBytes;
	}

	/**
	 * The call has waited long for other ranks: tells those who compare what ranks have
	 * called. Only the first time in a call has an effect.
	 */
	public void waited() {
		if (!this.issued.told) {
			this.issued.told = true;
			CallObserver observer = this.issued.observer;
			if (observer != null) {
				observer.waited(this.issued);
			}
		}
	}

	/**
	 * Another rank is in the same call, but has called something else before it: has the
	 * calls before compared.
	 */
	public void disputed() {
		CallObserver observer = this.issued.observer;
		if (observer != null) {
			observer.disputed(this.issued);
		}
	}

	/**
	 * A hash of what ranks had to agree on in all calls of the group before this one.
	 */
	public int history() {
		return this.history;
	}

	/** A backend says how it carries the call out, in a constant of few. */
	public void by(String algorithm) {
		this.algorithm = algorithm;
	}

	/** A backend says that the buffers are on a device, before it tells of the call. */
	public void onDevice() {
		this.onDevice = true;
	}

	/** Where the buffers are; host memory if no backend has said otherwise. */
	public MemoryKind memory() {
		return this.onDevice ? MemoryKind.DEVICE : MemoryKind.HOST;
	}

	/** How the backend carries the call out; empty before it has said so. */
	public String algorithm() {
		return this.algorithm;
	}

	/** A failure inside this call, or inside the call that this one is a part of. */
	public Failure failure(Failure.Kind kind, String group, List<Integer> worldRanks, String detail) {
		return new Failure(kind, group, this.sequence, this.issued.collective, worldRanks, detail,
				this.issued.deadline.elapsed(), this.issued.deadline.timeout());
	}

	/**
	 * The same failure with this call in its message, unless it already names a call: a
	 * lost rank or an abort reaches each rank in a different call.
	 */
	public CollectiveException named(CollectiveException cause) {
		return (cause.failure().collective() != null) ? cause
				: cause.during(this.issued.collective + " #" + this.sequence, this.issued.deadline.elapsed());
	}

	/** By when the whole call must be done. */
	public Deadline deadline() {
		return this.issued.deadline;
	}

	/**
	 * The call in words, such as {@code all-reduce #7 (count 1024, float32, sum)}.
	 */
	@Override
	public String toString() {
		return this.collective + " #" + this.sequence + " (count " + this.count + ", " + this.type + ", " + this.op
				+ ", root " + this.root + ")";
	}

}
