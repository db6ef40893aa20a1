package io.tutti.testing;

import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(60)
class TcpRankWorldTest {

	/** Nothing else would close its engine. */
	@Test
	void aRankThatJoinsAfterTheEndIsClosed() {
		TcpRankWorld world = new TcpRankWorld(1, Timeouts.DEFAULTS);
		world.close();
		assertThatIllegalStateException().isThrownBy(() -> world.group(0))
			.withMessage("rank 0 joined after the end of its test");
	}

}
