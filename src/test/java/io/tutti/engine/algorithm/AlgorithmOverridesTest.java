package io.tutti.engine.algorithm;

import io.tutti.Collective;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(10)
class AlgorithmOverridesTest {

	@Test
	void overridesRoundTripThroughText() {
		AlgorithmOverrides overrides = AlgorithmOverrides.from(" broadcast=chain , all-reduce=ring,");
		assertThat(overrides.of(Collective.ALL_REDUCE)).isEqualTo(AlgorithmName.RING);
		assertThat(overrides.of(Collective.BROADCAST)).isEqualTo(AlgorithmName.CHAIN);
		assertThat(overrides.of(Collective.REDUCE)).isNull();
		assertThat(overrides).hasToString("all-reduce=ring,broadcast=chain");
		assertThat(AlgorithmOverrides.from(overrides.toString())).hasToString(overrides.toString());
	}

	@Test
	void blankTextMeansNoOverrides() {
		assertThat(AlgorithmOverrides.from(" ")).hasToString("");
	}

	@Test
	void anUnknownCollectiveIsRejectedWithTheListOfCollectives() {
		assertThatThrownBy(() -> AlgorithmOverrides.from("allreduce=ring")).isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("got allreduce")
			.hasMessageContaining("all-reduce, reduce, broadcast");
	}

	@Test
	void anAlgorithmOfAnotherCollectiveIsRejectedWithTheListOfAlgorithms() {
		assertThatThrownBy(() -> AlgorithmOverrides.from("all-reduce=bruck"))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("ring, recursive-doubling, halving-doubling, got bruck");
	}

	@Test
	void aPairWithoutEqualsSignIsRejected() {
		assertThatThrownBy(() -> AlgorithmOverrides.from("ring")).isInstanceOf(IllegalArgumentException.class)
			.hasMessageContaining("all-reduce=ring");
	}

}
