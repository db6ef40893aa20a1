package io.tutti.benchmark.peer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class PeerVariantsTest {

	@ParameterizedTest
	@EnumSource(Peer.class)
	void overTcpEveryPeerUsesTcpOnly(Peer peer) {
		PeerVariant variant = new PeerVariants(2, true, false).of(peer, false).getFirst();
		switch (peer) {
			case OPENMPI -> assertThat(variant.launcher()).containsSubsequence("pml", "ob1", "btl", "tcp,self")
				.containsSubsequence("coll", "^sm,han,adapt");
			case MPICH -> assertThat(variant.environment()).containsEntry("MPIR_CVAR_NOLOCAL", "1")
				.containsEntry("UCX_TLS", "tcp,self");
			case GLOO -> assertThat(variant.arguments()).containsExactly("2", "core");
		}
	}

	@Test
	void onOneHostOpenMpiAlsoRunsOverUcx() {
		assertThat(new PeerVariants(2, true, false).of(Peer.OPENMPI, true).stream().map(PeerVariant::name))
			.containsExactly("shm", "shm-keep", "shm-ucx", "shm-ucx-keep");
	}

	@ParameterizedTest
	@EnumSource(Peer.class)
	void everyPeerMayKeepFreedMemoryOverEachTransport(Peer peer) {
		assertThat(new PeerVariants(2, true, false).of(peer, false))
			.anySatisfy((variant) -> assertThat(variant.environment()).containsKey("MALLOC_TRIM_THRESHOLD_"));
		if (peer != Peer.GLOO) {
			assertThat(new PeerVariants(2, true, false).of(peer, true))
				.anySatisfy((variant) -> assertThat(variant.environment()).containsKey("MALLOC_TRIM_THRESHOLD_"));
		}
	}

	@Test
	void ranksAreBoundOnlyIfOurRanksAre() {
		assertThat(new PeerVariants(2, true, false).of(Peer.OPENMPI, false).getFirst().launcher())
			.containsSubsequence("--use-hwthread-cpus", "--map-by", "core", "--bind-to", "core")
			.doesNotContain("--oversubscribe", "--allow-run-as-root");
		assertThat(new PeerVariants(4, false, true).of(Peer.OPENMPI, false).getFirst().launcher())
			.containsSubsequence("--use-hwthread-cpus", "--oversubscribe", "--bind-to", "none")
			.doesNotContain("--map-by")
			.contains("--allow-run-as-root");
		assertThat(new PeerVariants(4, false, false).of(Peer.GLOO, false).getFirst().arguments()).containsExactly("4",
				"none");
		assertThat(new PeerVariants(4, false, false).of(Peer.MPICH, false).getFirst().launcher())
			.doesNotContain("-bind-to");
	}

}
