package io.tutti.benchmark;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class CompilerWatchTest {

	private long nanos;

	private long compiledMillis = 5000;

	private final CompilerWatch watch = new CompilerWatch(() -> this.nanos, () -> this.compiledMillis);

	@Test
	void itIsBusyUntilTwoCompleteWindowsWereIdle() {
		assertThat(this.watch.busy()).isTrue();
		pass(99, 0);
		assertThat(this.watch.busy()).isTrue();
		pass(1, 10);
		assertThat(this.watch.busy()).isTrue();
		pass(100, 10);
		assertThat(this.watch.busy()).isFalse();
		pass(100, 11);
		assertThat(this.watch.busy()).isTrue();
		pass(100, 0);
		assertThat(this.watch.busy()).isTrue();
		pass(100, 0);
		assertThat(this.watch.busy()).isFalse();
	}

	@Test
	void aCompilationThatLastsLongerThanAWindowKeepsItBusy() {
		assertThat(this.watch.busy()).isTrue();
		pass(100, 0);
		assertThat(this.watch.busy()).isTrue();
		pass(100, 150);
		assertThat(this.watch.busy()).isTrue();
	}

	@Test
	void thisJvmsCompilerBecomesIdle() {
		CompilerWatch own = CompilerWatch.ofThisJvm();
		assertThat(own.busy()).isTrue();
		Awaitility.await().atMost(Duration.ofSeconds(15)).pollInterval(Duration.ofMillis(110)).until(() -> !own.busy());
	}

	private void pass(long millis, long compiled) {
		this.nanos += millis * 1_000_000;
		this.compiledMillis += compiled;
	}

}
