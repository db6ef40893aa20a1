package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.PointToPoint;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import io.tutti.engine.transport.simulated.SimulatedTransport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One rank has no file descriptor or port left for a subgroup.
 */
@Timeout(60)
class RefusedSplitTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final int WORLD_SIZE = 3;

	private static final int REFUSING = 1;

	private final SimulatedNetwork network = new SimulatedNetwork(WORLD_SIZE);

	private final SimulatedControl control = new SimulatedControl(WORLD_SIZE);

	@Test
	void noRankKeepsAGroupThatOneRankCannotForm() throws Exception {
		List<DefaultProcessGroup> groups = List.of(join(0), join(1), join(2));
		List<Outcome<ProcessGroup>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT,
				(rank) -> groups.get(rank).split(0, rank));
		assertThat(outcomes.get(REFUSING).failure()).isInstanceOf(IllegalStateException.class)
			.hasMessage("no descriptor is left");
		for (int rank : new int[] { 0, 2 }) {
			assertThat(outcomes.get(rank).failure()).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("broken by rank 1")
				.hasMessageContaining("could not form the group");
		}
		RankThreads.run(WORLD_SIZE, LIMIT, (rank) -> {
			groups.get(rank).barrier();
			groups.get(rank).close();
			return null;
		});
	}

	@Test
	void everyRankRefusesAGroupThatIsNestedTooDeepForOneColour() throws Exception {
		List<Integer> members = List.of(0, 1, 2);
		List<DefaultProcessGroup> groups = members.stream()
			.map((rank) -> join(new GroupIdentity("x".repeat(393), rank, members, 0)))
			.toList();
		List<Outcome<ProcessGroup>> outcomes = RankThreads.outcomes(WORLD_SIZE, LIMIT,
				(rank) -> groups.get(rank).split((rank == 2) ? Integer.MAX_VALUE : 0, rank));
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupStateException.class)
				.hasMessageContaining("groups are nested too deep"));
		groups.forEach(DefaultProcessGroup::close);
	}

	private DefaultProcessGroup join(int rank) {
		return join(GroupIdentity.world(rank, WORLD_SIZE, 0));
	}

	private DefaultProcessGroup join(GroupIdentity identity) {
		int rank = identity.rank();
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		FailureLatch latch = registry.add(identity);
		ControlPlane plane = this.control.join(rank, registry);
		Timeouts timeouts = Timeouts.DEFAULTS.withCollective(LIMIT);
		GroupFactory groups = new SimulatedGroups(this.network, plane, registry, timeouts, AlgorithmOverrides.NONE,
				new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));
		SimulatedTransport transport = new SimulatedTransport(identity, latch, this.network);
		DefaultProcessGroup group = new DefaultProcessGroup(identity,
				new TransportGroupBackend(transport.name(), identity, transport, ReductionKernels.get(),
						AlgorithmOverrides.NONE),
				latch, plane, timeouts, (rank == REFUSING) ? new Refusing(groups) : groups);
		registry.ready(group);
		return group;
	}

	private record Refusing(GroupFactory groups) implements GroupFactory {

		@Override
		public @Nullable PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			return this.groups.pointToPoint(identity, latch);
		}

		@Override
		public DefaultProcessGroup group(GroupIdentity identity) {
			throw new IllegalStateException("no descriptor is left");
		}

	}

}
