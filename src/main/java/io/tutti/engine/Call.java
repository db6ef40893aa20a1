package io.tutti.engine;

import org.jspecify.annotations.Nullable;

/**
 * One collective call as a backend sees it: what to do, on which native memory, by when.
 * Mutable because a group reuses one for all its calls, so that a call allocates nothing;
 * a backend reads it and keeps no reference after it returns.
 */
public final class Call {

	private final Deadline deadline = new Deadline();

	private final UnevenCounts uneven;

	private final CallWatch watch;

	private boolean told;

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

	Call(int worldSize, CallWatch watch) {
		this.watch = watch;
		this.uneven = new UnevenCounts(worldSize);
	}

	void describe(long sequence, Collective collective, long count, DataType type, @Nullable ReduceOp op, int root) {
		this.told = false;
		this.algorithm = "";
		this.sequence = sequence;
		this.collective = collective;
		this.count = count;
		this.type = type;
		this.op = (op != null) ? op : ReduceOp.SUM;
		this.root = root;
	}

	void counts(long @Nullable [] send, long @Nullable [] receive) {
		this.uneven.set(send, receive);
	}

	void place(long sendAddress, long sendBytes, long receiveAddress, long receiveBytes) {
		this.sendAddress = sendAddress;
		this.sendBytes = sendBytes;
		this.receiveAddress = receiveAddress;
		this.receiveBytes = receiveBytes;
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
		if (!this.told) {
			this.told = true;
			this.watch.waited(this);
		}
	}

	/** A backend says how it carries the call out, in a constant of few. */
	public void by(String algorithm) {
		this.algorithm = algorithm;
	}

	/** How the backend carries the call out; empty before it has said so. */
	String algorithm() {
		return this.algorithm;
	}

	/** By when the whole call must be done. */
	public Deadline deadline() {
		return this.deadline;
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
