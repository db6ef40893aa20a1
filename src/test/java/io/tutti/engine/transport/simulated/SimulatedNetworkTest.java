package io.tutti.engine.transport.simulated;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.transport.simulated.SimulatedNetwork.Endpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

@Timeout(30)
class SimulatedNetworkTest {

	private static final Endpoint ZERO = new Endpoint("group", 0);

	private static final Endpoint ONE = new Endpoint("group", 1);

	private final SimulatedNetwork network = new SimulatedNetwork(3);

	private final MemorySegment memory = Arena.ofAuto().allocate(1);

	@Test
	void aGroupIsForgottenOnceAllItsRanksHaveLeft() throws IOException {
		this.network.dial(ONE, 0);
		this.network.leave(ZERO, 2);
		assertThatIOException().isThrownBy(() -> this.network.stream("group", 1, ZERO).write(this.memory.address(), 1));
		this.network.leave(new Endpoint("other", 1), 2);
		assertThatIOException().isThrownBy(() -> this.network.stream("group", 1, ZERO).write(this.memory.address(), 1));
		this.network.leave(ONE, 2);
		assertThat(this.network.stream("group", 1, ZERO).write(this.memory.address(), 1)).isOne();
		assertThat(this.network.dialersOf(ONE)).isEmpty();
	}

	@Test
	void aRankThatWasCutOffStaysSo() {
		this.network.cut(0);
		this.network.leave(ZERO, 2);
		this.network.leave(ONE, 2);
		assertThatIOException().isThrownBy(() -> this.network.stream("group", 1, ZERO).write(this.memory.address(), 1));
	}

}
