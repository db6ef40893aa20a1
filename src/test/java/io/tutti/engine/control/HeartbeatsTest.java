package io.tutti.engine.control;

import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class HeartbeatsTest {

	private static final long SECOND = Duration.ofSeconds(1).toNanos();

	private long now = Long.MAX_VALUE - 5 * SECOND;

	private final Heartbeats heartbeats = new Heartbeats(Duration.ofSeconds(30), this.now);

	@Test
	void heartbeatsAreSentOncePerSecondOrFourTimesPerLimit() {
		assertThat(this.heartbeats.beat(this.now)).isTrue();
		assertThat(this.heartbeats.beat(this.now)).isFalse();
		assertThat(this.heartbeats.nanosUntilBeat(this.now)).isEqualTo(SECOND);
		assertThat(this.heartbeats.beat(this.now + SECOND)).isTrue();
		Heartbeats quick = new Heartbeats(Duration.ofSeconds(2), this.now);
		assertThat(quick.beat(this.now)).isTrue();
		assertThat(quick.nanosUntilBeat(this.now)).isEqualTo(SECOND / 2);
	}

	@Test
	void aPeerIsSilentAfterTheLimit() {
		long heard = this.now + SECOND;
		live(31);
		assertThat(this.heartbeats.silent(heard, this.now)).isFalse();
		assertThat(this.heartbeats.silent(heard, this.now + 1)).isTrue();
		assertThat(this.heartbeats.pausedLately(this.now)).isFalse();
	}

	@Test
	void aStoppedProcessRestartsItsTimers() {
		long heard = this.now;
		live(10);
		this.now += 60 * SECOND;
		this.heartbeats.awake(this.now);
		assertThat(this.heartbeats.silent(heard, this.now)).isFalse();
		assertThat(this.heartbeats.pausedLately(this.now)).isTrue();
		live(30);
		assertThat(this.heartbeats.silent(heard, this.now)).isFalse();
		assertThat(this.heartbeats.silent(heard, this.now + 1)).isTrue();
		assertThat(this.heartbeats.pausedLately(this.now)).isFalse();
	}

	@Test
	void aShortPauseDoesNotRestartTheTimers() {
		long heard = this.now;
		this.now += 14 * SECOND;
		this.heartbeats.awake(this.now);
		live(17);
		assertThat(this.heartbeats.silent(heard, this.now)).isTrue();
	}

	@Test
	void theLimitIsDescribedInItsConfiguredUnit() {
		assertThat(this.heartbeats.describeSilence()).isEqualTo("silent for 30 s");
		assertThat(new Heartbeats(Duration.ofMillis(1500), 0).describeSilence()).isEqualTo("silent for 1500 ms");
	}

	private void live(int seconds) {
		for (int i = 0; i < seconds; i++) {
			this.now += SECOND;
			this.heartbeats.awake(this.now);
		}
	}

}
