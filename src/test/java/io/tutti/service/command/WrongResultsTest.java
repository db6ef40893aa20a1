package io.tutti.service.command;

import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class WrongResultsTest {

	private final WrongResults results = new WrongResults();

	@Test
	void correctResultsAreNotMentioned() {
		take(4, 0);
		assertThat(this.results.note()).isNull();
		assertThat(this.results.exitCode()).isZero();
	}

	@Test
	void wrongResultsAreAnInternalErrorAndCounted() {
		take(4, 0);
		take(16, 3);
		take(64, 2);
		assertThat(this.results.note()).isEqualTo("5 elements of results were wrong, in 2 of 3 lines");
		assertThat(this.results.exitCode()).isEqualTo(70);
	}

	private void take(long bytes, long wrong) {
		this.results
			.take(new Measurement("tutti", "shm", Operation.ALL_REDUCE, 2, bytes, bytes / 4, 1, 1, 1, 5, wrong));
	}

}
