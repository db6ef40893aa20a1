package io.tutti.engine.backend;

import java.util.ArrayList;
import java.util.List;

import io.tutti.GroupState;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.hierarchical.Hosts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import io.tutti.engine.transport.simulated.SimulatedTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The release of what consists of several parts, some of which cannot be released. */
@Timeout(30)
class BackendCloseTest {

	@Test
	void aHierarchicalBackendReleasesEachLevelThoughAnotherOneFails() {
		List<String> closed = new ArrayList<>();
		GroupBackend backend = new HierarchicalGroupBackend(GroupIdentity.world(0, 3, 0), Hosts.of(List.of(0, 0, 2)),
				new Failing("flat", closed), new Failing("within", closed), new Failing("across", closed),
				ReductionKernels.get());
		assertThatThrownBy(backend::close).hasMessage("across")
			.satisfies((ex) -> assertThat(ex.getSuppressed()).extracting(Throwable::getMessage)
				.containsExactly("within", "flat"));
		assertThat(closed).containsExactly("across", "within", "flat");
	}

	@Test
	void aBackendReleasesTheMemoryOfItsAlgorithmsThoughItsTransportFails() {
		GroupIdentity identity = GroupIdentity.world(0, 2, 0);
		SimulatedTransport transport = new SimulatedTransport(identity, new FailureLatch(), new SimulatedNetwork(2));
		TransportGroupBackend backend = new TransportGroupBackend("tcp", identity, transport, ReductionKernels.get(),
				AlgorithmOverrides.NONE);
		backend.scratch().address();
		transport.close();
		assertThatThrownBy(backend::close).hasMessage("Already closed").hasNoSuppressedExceptions();
		assertThatThrownBy(backend::close).satisfies((ex) -> assertThat(ex.getSuppressed()).hasSize(1));
	}

	@Test
	void aSimulatedWorldClosesEveryRankThoughTheReleaseOfOneFails() {
		SimulatedWorld world = new SimulatedWorld(3, Timeouts.DEFAULTS);
		world.group(0).onClose(() -> {
			throw new IllegalStateException("in use");
		});
		assertThatThrownBy(world::close).hasMessage("in use");
		assertThat(List.of(1, 2))
			.allSatisfy((rank) -> assertThat(world.group(rank).state()).isEqualTo(GroupState.CLOSED));
	}

	private record Failing(String name, List<String> closed) implements GroupBackend {

		@Override
		public String transport() {
			return this.name;
		}

		@Override
		public void run(Call call) {
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
			this.closed.add(this.name);
			throw new IllegalStateException(this.name);
		}

	}

}
