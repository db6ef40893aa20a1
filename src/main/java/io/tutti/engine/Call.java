package io.tutti.engine;

import org.jspecify.annotations.Nullable;

/**
 * One collective call as a backend sees it: what to do, on which native memory, by when.
 * Mutable because a group reuses one for all its synchronous calls, so that a call
 * allocates nothing; a backend reads it and keeps no reference after it returns.
 */
public final class Call {

	private final Deadline deadline = new Deadline();

	private long sequence = -1;

	private Collective collective = Collective.BARRIER;

	private DataType type = DataType.FLOAT32;

	private ReduceOp op = ReduceOp.SUM;

	private int root;

	private long count;

	private long sendAddress;

	private long receiveAddress;

	Call() {
	}

	void describe(long sequence, Collective collective, long count, DataType type, @Nullable ReduceOp op, int root) {
		this.sequence = sequence;
		this.collective = collective;
		this.count = count;
		this.type = type;
		this.op = (op != null) ? op : ReduceOp.SUM;
		this.root = root;
	}

	void place(long sendAddress, long receiveAddress) {
		this.sendAddress = sendAddress;
		this.receiveAddress = receiveAddress;
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

	/** Elements that this rank contributes. */
	public long count() {
		return this.count;
	}

	/** Bytes that this rank contributes. */
	public long bytes() {
		return this.count * this.type.bytes();
	}

	/** Native address of what this rank contributes. */
	public long sendAddress() {
		return this.sendAddress;
	}

	/**
	 * Native address of the result; the same as {@link #sendAddress()} for a call in
	 * place.
	 */
	public long receiveAddress() {
		return this.receiveAddress;
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
