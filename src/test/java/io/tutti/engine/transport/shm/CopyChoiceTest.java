package io.tutti.engine.transport.shm;

import java.util.concurrent.locks.LockSupport;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CopyChoiceTest {

	private static final long BYTES = 128 << 10;

	private static final long SLOW = 20_000;

	private static final long FAST = 10_000;

	/** More than until a trial and in one. */
	private static final int CALLS = 1000;

	private final CopyChoice choice = new CopyChoice(true);

	/** Records calls until the other way is tried. */
	private void untilTrial(long nanos) {
		boolean reads = this.choice.reads();
		for (int i = 0; i < CALLS && this.choice.reads() == reads; i++) {
			this.choice.record(BYTES, reads, nanos);
			LockSupport.parkNanos(100_000);
		}
		assertThat(this.choice.reads()).isNotEqualTo(reads);
	}

	/** Records calls until the other way has been tried. */
	private void trial(long nanos) {
		boolean reads = this.choice.reads();
		for (int i = 0; i < CALLS && this.choice.measures(); i++) {
			this.choice.record(BYTES, reads, nanos);
		}
		assertThat(this.choice.measures()).isFalse();
	}

	@Test
	void theOtherWayIsTriedAndKeptIfItTakesLessTime() {
		untilTrial(SLOW);
		assertThat(this.choice.reads()).isFalse();
		trial(FAST);
		assertThat(this.choice.reads()).isFalse();
		untilTrial(SLOW);
		trial(FAST);
		assertThat(this.choice.reads()).isTrue();
	}

	@Test
	void theWayInUseIsKeptIfTheOtherTakesNoLessTime() {
		untilTrial(SLOW);
		trial(SLOW);
		assertThat(this.choice.reads()).isTrue();
	}

	/** Those on their way when a trial begins were moved in the way before. */
	@Test
	void aTrialCountsOnlyCallsMovedInItsWay() {
		untilTrial(SLOW);
		for (int i = 0; i < 1000; i++) {
			this.choice.record(BYTES, true, FAST);
		}
		assertThat(this.choice.measures()).isTrue();
		assertThat(this.choice.reads()).isFalse();
	}

	/** In between, nothing is measured. */
	@Test
	void aTrialIsFollowedByAPause() {
		untilTrial(SLOW);
		trial(SLOW);
		for (int i = 0; i < 100; i++) {
			assertThat(this.choice.measures()).isFalse();
			this.choice.record(BYTES, true, 0);
		}
	}

}
