package io.tutti.engine.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Departure;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.transport.simulated.SimulatedNetwork;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class GroupRegistryTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT);

	private static final GroupIdentity PART = new GroupIdentity("world/0.0", 0, List.of(1, 2), 0);

	private final GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);

	@Test
	void aVerdictBeforeTheGroupIsRegisteredBreaksItOnRegistration() {
		Failure verdict = Failure.outside(Failure.Kind.ABORTED, PART.name(), List.of(2), "asked for by rank 2");
		this.registry.failed(verdict);
		FailureLatch latch = this.registry.add(PART);
		assertThat(latch.failure()).isEqualTo(verdict);
	}

	@Test
	void aVerdictOnAnotherGroupHasNoEffect() {
		this.registry.failed(Failure.outside(Failure.Kind.ABORTED, "world/1.0", List.of(2), "asked for by rank 2"));
		FailureLatch latch = this.registry.add(PART);
		assertThat(latch.failure()).isNull();
	}

	@Test
	void aVerdictOnALostRankThatIsNotKnownBreaksTheGroupThatItNames() {
		FailureLatch latch = this.registry.add(PART);
		FailureLatch other = this.registry.add(PART.other("world/1.0", 0, List.of(1)));
		Failure verdict = Failure.outside(Failure.Kind.PEER_LOST, PART.name(), List.of(), "a rank was lost");
		this.registry.failed(verdict);
		assertThat(latch.failure()).isEqualTo(verdict);
		assertThat(other.failure()).isNull();
	}

	/** Nobody announces which ranks leave other groups because of the loss. */
	@Test
	void theLossOfRankZeroBreaksEveryGroupAlsoOneThatIsRegisteredLater() {
		this.registry.add(GroupIdentity.world(1, 3, 0));
		FailureLatch before = this.registry.add(PART);
		Failure verdict = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "its connection ended");
		this.registry.failed(verdict);
		assertThat(before.failure()).isEqualTo(verdict);
		assertThat(this.registry.add(PART.other("world/1.0", 0, List.of(1, 2))).failure()).isEqualTo(verdict);
	}

	@Test
	void aCallThatNeedsRankZeroAfterItHasLeftBreaksNoGroupWithoutIt() {
		List<DefaultProcessGroup> formed = Stream.of(GroupIdentity.world(1, 3, 0), PART)
			.map((each) -> this.registry.form(each, (identity, latch) -> this.registry
				.ready(new DefaultProcessGroup(identity, failing(), latch, (failure) -> {
				}, TIMEOUTS))))
			.toList();
		this.registry.departed(new Departure(0, Failure.WORLD, 5));
		this.registry
			.failed(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "it has left the group"));
		assertThat(formed).extracting(ProcessGroup::state).containsExactly(GroupState.BROKEN, GroupState.READY);
	}

	/** As the first HTTP collective does while a generation of an elastic job ends. */
	@Test
	void aGroupThatIsReadyAfterTheEndIsClosed() {
		List<DefaultProcessGroup> formed = new ArrayList<>();
		assertThatThrownBy(() -> this.registry.form(PART, (identity, latch) -> {
			DefaultProcessGroup group = new DefaultProcessGroup(identity, failing(), latch, (failure) -> {
			}, TIMEOUTS);
			formed.add(group);
			this.registry.closeSubgroups();
			return this.registry.ready(group);
		})).isInstanceOf(GroupStateException.class).hasMessageContaining("closed");
		assertThat(formed.getFirst().state()).isEqualTo(GroupState.CLOSED);
		assertThat(this.registry.groups()).isEmpty();
	}

	/** The group has no parent in its name. */
	@Test
	void aGroupThatFormsBesideTheGroupOfAllRanksBreaksWithIt() {
		this.registry.add(GroupIdentity.world(1, 3, 0));
		FailureLatch forming = this.registry.add(PART.other("http", 1, List.of(0, 1, 2)));
		Failure verdict = Failure.outside(Failure.Kind.MISMATCH, Failure.WORLD, List.of(2), "the ranks differ");
		this.registry.failed(verdict);
		assertThat(forming.failure()).isEqualTo(verdict);
	}

	@Test
	void anAbortOfAllRanksBreaksEveryGroupAlsoOneThatIsRegisteredLater() {
		FailureLatch before = this.registry.add(PART);
		Failure verdict = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(0), "asked for by rank 0")
			.withExitCode(3);
		this.registry.failed(verdict);
		assertThat(before.failure()).isEqualTo(verdict);
		assertThat(this.registry.add(PART.other("world/1.0", 0, List.of(1))).failure()).isEqualTo(verdict);
	}

	/** Rank 0 announces who leaves a group, also where it is no member. */
	@Test
	void afterRankZeroHasLeftAnyRankOfASubgroupMayHaveLeftUnannounced() {
		FailureLatch before = this.registry.add(PART);
		assertThat(before.departed().mayContain(1)).isFalse();
		this.registry.departed(Departure.fromEveryGroup(0));
		FailureLatch later = this.registry.add(PART.other("world/1.0", 0, List.of(1, 2)));
		assertThat(List.of(before, later)).allSatisfy((latch) -> {
			assertThat(latch.departed().mayContain(1)).isTrue();
			assertThat(latch.departed().isEmpty()).isTrue();
		});
	}

	/** A listener may close another group that breaks, and must not be first. */
	@Test
	void everyGroupThatAnAbortBreaksIsBrokenBeforeListenersHearOfIt() {
		List<Boolean> broken = new CopyOnWriteArrayList<>();
		List<FailureLatch> latches = new CopyOnWriteArrayList<>();
		GroupRegistry registry = new GroupRegistry(new CollectiveListener() {
			@Override
			public void broken(Failure failure) {
				broken.add(latches.stream().allMatch((latch) -> latch.failure() != null));
			}
		});
		latches.add(registry.add(GroupIdentity.world(1, 3, 0)));
		latches.add(registry.add(PART));
		registry.failed(Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(0), "asked for by rank 0"));
		assertThat(broken).containsExactly(true, true);
	}

	@Test
	void aFailureWithoutAVerdictIsReportedToTheListenerOnce() {
		List<Failure> broken = new CopyOnWriteArrayList<>();
		GroupRegistry registry = new GroupRegistry(new CollectiveListener() {
			@Override
			public void broken(Failure failure) {
				broken.add(failure);
			}
		});
		FailureLatch latch = registry.add(PART);
		latch.reportTo(PART, (failure) -> {
		}, Duration.ofMillis(50));
		Failure seen = latch.abort("asked for").failure();
		Awaitility.await().untilAsserted(() -> assertThat(broken).containsExactly(seen));
		registry.failed(Failure.outside(Failure.Kind.ABORTED, PART.name(), List.of(2), "the verdict of rank 0"));
		assertThat(broken).containsExactly(seen);
	}

	/** Closing waits for the failed call. */
	@Test
	void aListenerMayCloseTheGroupThatHasFailedWithoutAVerdict() throws Exception {
		CompletableFuture<DefaultProcessGroup> formed = new CompletableFuture<>();
		CountDownLatch closed = new CountDownLatch(1);
		GroupRegistry registry = new GroupRegistry(new CollectiveListener() {
			@Override
			public void broken(Failure failure) {
				formed.join().close();
				closed.countDown();
			}
		});
		formed.complete(registry.form(PART,
				(identity, latch) -> new DefaultProcessGroup(identity, failing(), latch, (failure) -> {
				}, new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofMillis(50), LIMIT))));
		CompletableFuture<Void> call = CompletableFuture.runAsync(formed.join()::barrier, OwnThread.EXECUTOR);
		assertThat(call).failsWithin(Duration.ofSeconds(5)).withThrowableThat().withMessageContaining("a defect");
		assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
	}

	private static GroupBackend failing() {
		return new GroupBackend() {
			@Override
			public String name() {
				return "failing";
			}

			@Override
			public String transport() {
				return "failing";
			}

			@Override
			public void run(Call call) {
				throw new IllegalStateException("a defect");
			}

			@Override
			public void wake() {
			}

			@Override
			public void close() {
			}
		};
	}

	/** Many rounds, since a defect showed in one of a hundred. */
	@Test
	void noDepartureIsLostWhileItsGroupIsRegistered() {
		List<Integer> leaving = IntStream.rangeClosed(1, 8).boxed().toList();
		GroupIdentity group = new GroupIdentity(PART.name(), 0, IntStream.rangeClosed(0, 8).boxed().toList(), 0);
		List<GroupRegistry> rounds = Stream.generate(() -> new GroupRegistry(CollectiveListener.NONE))
			.limit(1000)
			.toList();
		AtomicInteger started = new AtomicInteger();
		AtomicInteger departed = new AtomicInteger();
		Thread.ofPlatform().daemon().start(() -> rounds.forEach((registry) -> {
			await(started, departed.get() + 1);
			leaving.forEach((rank) -> registry.departed(new Departure(rank, group.name(), 5)));
			departed.incrementAndGet();
		}));
		for (GroupRegistry registry : rounds) {
			int round = started.incrementAndGet();
			for (int pause = round * 37 % 400; pause > 0; pause--) {
				Thread.onSpinWait();
			}
			FailureLatch latch = registry.add(group);
			await(departed, round);
			assertThat(leaving).as("round %d", round).allMatch(latch.departed()::contains);
		}
	}

	private static void await(AtomicInteger counter, int value) {
		while (counter.get() < value) {
			Thread.yield();
		}
	}

	@Test
	void aRankThatLeavesTheJobIsAnEventAlsoIfItLeftBefore() {
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		registry.add(GroupIdentity.world(0, 4, 0));
		registry.departed(Departure.fromEveryGroup(1));
		List<Integer> left = new ArrayList<>();
		registry.onDeparture(left::add);
		registry.departed(new Departure(2, Failure.WORLD, 5));
		registry.departed(Departure.fromEveryGroup(3));
		assertThat(left).containsExactly(1, 3);
	}

	@Test
	void theTableOfGroupsThatWereLeftIsBounded() {
		try (ControlPlane plane = new SimulatedControl(1).join(0, this.registry); ProcessGroup world = world(plane)) {
			for (int i = 0; i < GroupRegistry.REMEMBERED + 10; i++) {
				world.split(0, 0).close();
			}
			assertThat(this.registry.remembered()).isEqualTo(GroupRegistry.REMEMBERED);
			assertThat(this.registry.lastEntered("world/" + (GroupRegistry.REMEMBERED + 9) + ".0")).isEqualTo(-1);
		}
	}

	/** Many rounds, since few of the readings fall within the end of a group. */
	@Test
	void totalsNeverDecrease() throws Exception {
		try (ControlPlane plane = new SimulatedControl(1).join(0, this.registry); ProcessGroup world = world(plane)) {
			CompletableFuture<Void> leaving = CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 1000; i++) {
					try (ProcessGroup part = world.split(0, 0)) {
						part.barrier();
					}
				}
			}, OwnThread.EXECUTOR);
			for (long seen = 0; !leaving.isDone();) {
				long now = this.registry.totals(Collective.BARRIER).success().count();
				assertThat(now).isGreaterThanOrEqualTo(seen);
				seen = now;
			}
			leaving.join();
			assertThat(this.registry.totals(Collective.BARRIER).success().count()).isEqualTo(1000);
		}
	}

	@Test
	void callsInWhichRanksFormAGroupAreNotCounted() {
		try (ControlPlane plane = new SimulatedControl(1).join(0, this.registry); ProcessGroup world = world(plane)) {
			GroupIdentity identity = GroupIdentity.world(0, 1, 0).other("world/0.0" + Groups.FORMING, 0, List.of(0));
			try (ProcessGroup forming = groups(plane).form(identity, this.registry.add(identity))) {
				forming.barrier();
				assertThat(this.registry.totals(Collective.BARRIER).success().count()).isZero();
			}
			world.barrier();
			assertThat(this.registry.totals(Collective.BARRIER).success().count()).isOne();
		}
	}

	private ProcessGroup world(ControlPlane plane) {
		GroupIdentity identity = GroupIdentity.world(0, 1, 0);
		return groups(plane).form(identity, this.registry.add(identity));
	}

	private SimulatedGroups groups(ControlPlane plane) {
		return new SimulatedGroups(new SimulatedNetwork(1), plane, this.registry, TIMEOUTS, AlgorithmOverrides.NONE,
				new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT));
	}

	@Test
	void aSimulatedWorldHasAtLeastOneRank() {
		assertThatThrownBy(() -> new SimulatedWorld(0, TIMEOUTS)).isInstanceOf(IllegalArgumentException.class)
			.hasMessage("world size must be at least 1, got 0");
	}

}
