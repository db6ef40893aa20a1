package io.tutti.engine.dispatch;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.MemoryKind;
import io.tutti.engine.spi.Ordinals;
import org.jspecify.annotations.Nullable;

/**
 * The last calls that a rank has entered in one group, and totals over all calls. Always
 * on, in fixed-size memory of longs. The thread that holds the turn writes without a lock
 * and without allocation. Any thread may read and never gets a call that is being
 * overwritten.
 */
public final class FlightRecorder {

	/** Calls kept for the group of all ranks; takes 128 KiB. */
	public static final int CAPACITY = 2000;

	/** Calls kept for a subgroup; there may be many subgroups. */
	static final int CAPACITY_WITHIN = 250;

	private static final int SEQUENCE = 0;

	private static final int COUNT = 1;

	/** Root, algorithm, collective, type and operator. */
	private static final int WHAT = 2;

	/**
	 * Kind of memory, state, site and digest of the counts; written last when a call
	 * ends.
	 */
	private static final int HOW = 3;

	private static final int BYTES = 4;

	private static final int ISSUED = 5;

	private static final int STARTED = 6;

	private static final int ENDED = 7;

	private static final int WORDS = 8;

	private static final int ALGORITHM_SHIFT = 24;

	private static final int SITE_SHIFT = 32;

	private static final int STATE_SHIFT = 48;

	private static final int MEMORY_SHIFT = 56;

	/** Limit of an eight-bit number. */
	private static final int MAX_ALGORITHMS = 256;

	/** Distinct call sites, well below the limit of 16 bits. */
	private static final int MAX_SITES = 1024;

	private static final int DONE_BYTES = 0;

	private static final int DONE_NANOS = 1;

	private static final int FAILED_NANOS = 2;

	/** Counts of the successful calls by duration. */
	private static final int DONE = 3;

	private static final int FAILED = DONE + CallDurations.BUCKETS;

	private static final int TOTALS = FAILED + CallDurations.BUCKETS;

	private static final CallRecord.State[] STATES = CallRecord.State.values();

	private static final MemoryKind[] MEMORIES = MemoryKind.values();

	private final int capacity;

	/** Entries of {@link #WORDS} words. */
	private final long[] words;

	/** Entries less one; they are a power of two, since a division takes longer. */
	private final int mask;

	private final long[] totals = new long[Collective.values().length * TOTALS];

	private final NameTable algorithms = new NameTable(MAX_ALGORITHMS);

	private final NameTable sites = new NameTable(MAX_SITES);

	private int at;

	private volatile boolean recordingSites;

	private final AtomicLong last = new AtomicLong(-1);

	/** An empty recorder; the capacity is at least 2 calls. */
	FlightRecorder(int capacity) {
		this.capacity = capacity;
		this.mask = (Integer.highestOneBit(capacity - 1) << 1) - 1;
		this.words = new long[(this.mask + 1) * WORDS];
		Arrays.fill(this.words, -1);
	}

	/** The recorder of a group. */
	static FlightRecorder of(GroupIdentity identity) {
		return new FlightRecorder(identity.name().equals(Failure.WORLD) ? CAPACITY : CAPACITY_WITHIN);
	}

	/** The sequence number of the last call that was entered, -1 for none. */
	public long last() {
		return this.last.get();
	}

	/**
	 * The sequence number of the last completed call, -1 for none. Exact while no call
	 * runs, since no call runs after a failed one.
	 */
	long lastCompleted() {
		CallRecord newest = record(last());
		return (newest == null || newest.state() == CallRecord.State.DONE) ? last() : last() - 1;
	}

	/**
	 * Switches the recording of call sites on or off. Walking the caller's stack takes
	 * microseconds and allocates, so it is off by default.
	 */
	public void recordSites(boolean wanted) {
		this.recordingSites = wanted;
	}

	/**
	 * Records the start of the next call. The calling thread holds the turn until the
	 * call has ended.
	 */
	void begin(Call call, long bytes, long issuedNanos, long startedNanos) {
		// A reader that sees the writes below also sees that the previous call was the
		// last.
		VarHandle.releaseFence();
		int slot = place(call.sequence());
		this.at = slot;
		long[] entry = this.words;
		entry[slot + SEQUENCE] = call.sequence();
		entry[slot + COUNT] = call.count();
		entry[slot + WHAT] = call.operationBits();
		entry[slot + HOW] = site(call) | call.countsDigest() & 0xffff_ffffL;
		entry[slot + BYTES] = bytes;
		entry[slot + ISSUED] = issuedNanos;
		entry[slot + STARTED] = startedNanos;
		this.last.setRelease(call.sequence());
	}

	/** The call's label, or where it was called if that is recorded. */
	private long site(Call call) {
		String label = call.label();
		if (!label.isEmpty()) {
			return (long) this.sites.numberOf(label) << SITE_SHIFT;
		}
		return this.recordingSites ? (long) this.sites.numberOf(CallSite.current()) << SITE_SHIFT : 0;
	}

	/** Records the end of the call, by success or failure. */
	void end(Call call, boolean well) {
		long endedNanos = System.nanoTime();
		int slot = this.at;
		long[] entry = this.words;
		entry[slot + ENDED] = endedNanos;
		entry[slot + WHAT] |= (long) this.algorithms.numberOf(call.algorithm()) << ALGORITHM_SHIFT;
		CallRecord.State state = well ? CallRecord.State.DONE : CallRecord.State.FAILED;
		VarHandle.releaseFence();
		entry[slot + HOW] |= (long) call.memory().ordinal() << MEMORY_SHIFT | (long) state.ordinal() << STATE_SHIFT;
		add(call.collective(), well, entry[slot + BYTES], endedNanos - entry[slot + STARTED]);
	}

	private void add(Collective collective, boolean well, long bytes, long nanos) {
		int total = collective.ordinal() * TOTALS;
		int bucket = CallDurations.bucket(nanos);
		if (well) {
			this.totals[total + DONE + bucket]++;
			this.totals[total + DONE_BYTES] += bytes;
			this.totals[total + DONE_NANOS] += nanos;
		}
		else {
			this.totals[total + FAILED + bucket]++;
			this.totals[total + FAILED_NANOS] += nanos;
		}
	}

	/**
	 * The call with this sequence number, {@code null} if it has not begun or is no
	 * longer held.
	 */
	@Nullable CallSignature find(long sequence) {
		CallRecord found = record(sequence);
		return (found != null) ? found.call() : null;
	}

	/**
	 * Kind of memory that the call with this sequence number used; unknown until it has
	 * ended.
	 */
	MemoryKind memory(long sequence) {
		if (sequence < 0 || sequence > last()) {
			return MemoryKind.UNKNOWN;
		}
		long how = this.words[place(sequence) + HOW];
		VarHandle.acquireFence();
		boolean running = STATES[(int) (how >> STATE_SHIFT & 0xff)] == CallRecord.State.RUNNING;
		if (running || record(sequence) == null) {
			return MemoryKind.UNKNOWN;
		}
		return MEMORIES[(int) (how >> MEMORY_SHIFT & 0xff)];
	}

	/** The last calls, oldest first, at most {@code limit}. */
	public List<CallRecord> latest(int limit) {
		long newest = last();
		List<CallRecord> calls = new ArrayList<>();
		for (long sequence = Math.max(0, newest - limit + 1); sequence <= newest; sequence++) {
			CallRecord call = record(sequence);
			if (call != null) {
				calls.add(call);
			}
		}
		return calls;
	}

	/** The running call, {@code null} if there is none. */
	public @Nullable CallRecord running() {
		CallRecord newest = record(last());
		return (newest != null && newest.state() == CallRecord.State.RUNNING) ? newest : null;
	}

	/** Totals over all calls of a collective, including those no longer held. */
	public CallTotals totals(Collective collective) {
		VarHandle.acquireFence();
		int total = collective.ordinal() * TOTALS;
		return new CallTotals(new CallDurations(this.totals, total + DONE, this.totals[total + DONE_NANOS]),
				new CallDurations(this.totals, total + FAILED, this.totals[total + FAILED_NANOS]),
				this.totals[total + DONE_BYTES]);
	}

	private @Nullable CallRecord record(long sequence) {
		if (sequence < 0 || sequence > last()) {
			return null;
		}
		int slot = place(sequence);
		long how = this.words[slot + HOW];
		VarHandle.acquireFence();
		long[] entry = Arrays.copyOfRange(this.words, slot, slot + WORDS);
		VarHandle.acquireFence();
		boolean beingOverwritten = last() >= sequence + this.capacity - 1;
		if (entry[SEQUENCE] != sequence || beingOverwritten) {
			return null;
		}
		return record(entry, how);
	}

	private CallRecord record(long[] entry, long how) {
		long what = entry[WHAT];
		CallSignature call = new CallSignature(entry[SEQUENCE], Ordinals.collective((int) (what >> 16 & 0xff)),
				entry[COUNT], (int) how, Ordinals.type((int) (what >> 8 & 0xff)),
				Ordinals.operator((int) (what & 0xff)), (int) (what >> 32));
		CallRecord.State state = STATES[(int) (how >> STATE_SHIFT & 0xff)];
		boolean running = state == CallRecord.State.RUNNING;
		String algorithm = running ? null : this.algorithms.name((int) (what >> ALGORITHM_SHIFT & 0xff));
		return new CallRecord(call, entry[BYTES], state, entry[ISSUED], entry[STARTED], running ? 0 : entry[ENDED],
				(algorithm != null) ? algorithm : "", this.sites.name((int) (how >> SITE_SHIFT & 0xffff)));
	}

	private int place(long sequence) {
		return (int) (sequence & this.mask) * WORDS;
	}

}
