package io.tutti.benchmark;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The measuring thread is bound to its own core during the measurement.
 */
@Timeout(20)
class CoreBindingTest {

	private BitSet before = new BitSet();

	@BeforeEach
	void requireKnownCores() {
		Assumptions.assumeTrue(CoreBinding.allowed().isPresent(), "the kernel tells nothing of cores");
		this.before = CoreBinding.allowed().orElseThrow();
	}

	@Test
	void eachRankOfAHostIsBoundToItsOwnCoreAndReleasesIt() {
		int ranks = this.before.cardinality();
		List<BitSet> cores = new ArrayList<>();
		for (int rank = 0; rank < ranks; rank++) {
			CoreBinding.of(rank, ranks).during(() -> cores.add(CoreBinding.allowed().orElseThrow()));
		}
		assertThat(cores).doesNotHaveDuplicates().allSatisfy((one) -> {
			assertThat(one.cardinality()).isOne();
			assertThat(one.intersects(this.before)).isTrue();
		});
		assertThat(CoreBinding.allowed()).contains(this.before);
	}

	@Test
	void ranksAreNotBoundIfTheyOutnumberTheCores() {
		CoreBinding binding = CoreBinding.of(0, this.before.cardinality() + 1);
		assertThat(binding).hasToString("none");
		binding.during(() -> assertThat(CoreBinding.allowed()).contains(this.before));
	}

	@Test
	void theBindingEndsAfterAFailure() {
		CoreBinding binding = CoreBinding.of(0, 1);
		assertThatIllegalStateException().isThrownBy(() -> binding.during(() -> {
			throw new IllegalStateException("measured nothing");
		}));
		assertThat(CoreBinding.allowed()).contains(this.before);
	}

}
