package io.tutti.engine;

import org.jspecify.annotations.Nullable;

/**
 * What this rank tells rank 0 of its calls, so that rank 0 can compare them with those of
 * the other ranks: a call that waits long, and any that rank 0 asks for.
 */
final class ComparedCalls implements CallWatch {

	/** Rank 0 compares no more places of a group. */
	private static final int COMPARED = 6;

	private final String group;

	private final FlightRecorder recorder;

	private final Settlement settlement;

	/** Calls up to this one are posted as they begin: another rank waits in one. */
	private volatile long askedThrough = -1;

	ComparedCalls(String group, FlightRecorder recorder, Settlement settlement) {
		this.group = group;
		this.recorder = recorder;
		this.settlement = settlement;
	}

	/**
	 * What was called at a place in the order, {@code null} if it is forgotten or has not
	 * begun; in that case it is posted as soon as it begins.
	 */
	@Nullable CallPost called(long sequence) {
		if (sequence > this.askedThrough) {
			this.askedThrough = sequence;
		}
		CallSignature found = this.recorder.find(sequence);
		return (found != null) ? CallPost.remembered(this.group, found, this.recorder.memory(sequence)) : null;
	}

	/** A call has begun and is in the recorder; no backend has looked at it yet. */
	void begun(Call call) {
		if (call.sequence() <= this.askedThrough) {
			this.settlement.post(CallPost.unseen(this.group, call));
		}
	}

	/** A call has ended, so that it is known in which memory it was. */
	void ended(Call call) {
		CallPost post = (call.sequence() <= this.askedThrough) ? called(call.sequence()) : null;
		if (post != null) {
			this.settlement.post(post);
		}
	}

	@Override
	public void waited(Call begun) {
		this.settlement.post(CallPost.begun(this.group, begun));
	}

	@Override
	public void disputed(Call begun) {
		for (long earlier = begun.sequence() - COMPARED; earlier < begun.sequence(); earlier++) {
			CallPost post = called(earlier);
			if (post != null) {
				this.settlement.post(post);
			}
		}
	}

}
