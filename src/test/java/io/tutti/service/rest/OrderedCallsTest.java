package io.tutti.service.rest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class OrderedCallsTest {

	@Test
	void callsRunInOrderOfTheirNumbersAndAFailureDelaysNoOtherCall() throws Exception {
		List<Integer> made = new ArrayList<>();
		try (OrderedCalls calls = new OrderedCalls("ordered-calls")) {
			CompletableFuture<Boolean> last = calls.submit(2, () -> made.add(2));
			CompletableFuture<Boolean> failing = calls.submit(1, () -> {
				throw new IllegalStateException("made to fail");
			});
			assertThat(last).isNotDone();
			calls.submit(0, () -> made.add(0)).get(10, TimeUnit.SECONDS);
			last.get(10, TimeUnit.SECONDS);
			assertThat(failing).isCompletedExceptionally();
			assertThat(made).containsExactly(0, 2);
		}
	}

}
