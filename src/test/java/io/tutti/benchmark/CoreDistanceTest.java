package io.tutti.benchmark;

import java.util.BitSet;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class CoreDistanceTest {

	@Test
	void theTimeBetweenTwoCoresIsMeasuredAndTheThreadKeepsItsCores() {
		BitSet before = CoreBinding.allowed().orElseGet(BitSet::new);
		Assumptions.assumeTrue(before.cardinality() >= 2, "this process may use one core only");
		assertThat(CoreDistance.measure().orElseThrow()).isPositive();
		assertThat(CoreBinding.allowed()).contains(before);
	}

	@Test
	void thereIsNoTimeOnOneCore() {
		CoreBinding.of(0, 1).during(() -> {
			Assumptions.assumeTrue(CoreBinding.allowed().map(BitSet::cardinality).orElse(0) == 1,
					"the kernel does not bind threads");
			assertThat(CoreDistance.measure()).isEmpty();
		});
	}

}
