package io.tutti.engine.algorithm;

import io.tutti.Collective;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(10)
class AlgorithmFactoryTest {

	private static final int RANKS = 2;

	@ParameterizedTest
	@EnumSource
	void anAlgorithmOfAnotherCollectiveIsNotReplaced(Collective collective) {
		try (Scratch scratch = new Scratch(RANKS)) {
			AlgorithmFactory factory = new AlgorithmFactory(
					AlgorithmContext.of(GroupIdentity.world(0, RANKS, 0), null, ReductionKernels.get(), scratch));
			for (AlgorithmName name : AlgorithmName.values()) {
				if (!AlgorithmName.offered(collective).contains(name)) {
					assertThatIllegalArgumentException().isThrownBy(() -> factory.create(collective, name))
						.withMessage("the collective has no algorithm " + name);
				}
			}
		}
	}

}
