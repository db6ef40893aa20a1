package io.tutti.benchmark.peer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(10)
class PeerTest {

	@Test
	void aListGivesEachPeerOnceInItsOrder() {
		assertThat(Peer.parse("gloo, openmpi,gloo")).containsExactly(Peer.GLOO, Peer.OPENMPI);
	}

	@ParameterizedTest
	@ValueSource(strings = { "nccl", "openmpi,", "OPENMPI", "" })
	void anUnknownNameIsRejectedWithTheKnownNames(String list) {
		assertThatIllegalArgumentException().isThrownBy(() -> Peer.parse(list))
			.withMessageContaining("openmpi, mpich, gloo, got");
	}

}
