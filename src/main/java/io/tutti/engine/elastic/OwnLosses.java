package io.tutti.engine.elastic;

import java.time.Duration;

/**
 * How often the other ranks have lost this one, though it is alive, without a step and
 * without a generation that lasts between.
 */
final class OwnLosses {

	static final int MAX = 3;

	/**
	 * A generation that has lived for so many heartbeat timeouts has worked: a rank that
	 * does not reach the others is lost after one or two.
	 */
	private static final int LASTING_HEARTBEATS = 10;

	private final Duration lasting;

	private int count;

	private long failedStep = -1;

	OwnLosses(Duration heartbeat) {
		this.lasting = heartbeat.multipliedBy(LASTING_HEARTBEATS);
	}

	/**
	 * Counts a loss.
	 * @param step this rank's last complete step
	 * @param lived how long the generation has lived
	 * @return whether it is one too many
	 */
	boolean add(long step, Duration lived) {
		if (step != this.failedStep || lived.compareTo(this.lasting) >= 0) {
			this.count = 0;
			this.failedStep = step;
		}
		return ++this.count == MAX;
	}

}
