package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import io.tutti.CollectiveListener;
import io.tutti.ElasticState;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.FreePort;
import io.tutti.GroupState;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.service.group.BrokenGeneration;
import io.tutti.service.group.GroupLifecycle;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The generations of serving ranks in this process, over loopback.
 */
@Timeout(90)
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_ERR)
class ElasticServiceTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Duration LINGER = Duration.ofHours(1);

	private final int masterPort = FreePort.next();

	private final ElasticSettings settings = new ElasticSettings(1, Duration.ZERO, 0, QuorumRule.LIVE,
			Stream.generate(() -> new Endpoint("127.0.0.1", FreePort.next())).limit(3).toList());

	private final List<GroupLifecycle> slots = Stream.of(0, 1, 2).map(this::slot).toList();

	private final CountDownLatch end = new CountDownLatch(1);

	@AfterEach
	void leave() {
		this.end.countDown();
		this.slots.forEach(GroupLifecycle::stop);
	}

	/** Rank 1 leaves without having learnt that a process waits to join. */
	@Test
	void aRankThatLeavesWhileAProcessWaitsToJoinIsNotAwaited() {
		GroupLifecycle rank0 = this.slots.getFirst();
		serve(0, null);
		this.slots.get(1).start();
		CompletableFuture.runAsync(() -> this.slots.get(1).elastic().run(new Nothing(), (_) -> {
			this.end.await();
			return null;
		}), Thread::startVirtualThread);
		awaitWorld(rank0, 0);
		serve(2, null);
		Awaitility.await().atMost(LIMIT).until(rank0::joinersWait);
		this.slots.get(1).stop();
		awaitWorld(rank0, 1);
		assertThat(rank0.history().ranks()).containsExactly(0, 2);
	}

	@Test
	void anAbortedGenerationIsReportedOnceOnEveryRank() {
		List<GroupLifecycle> both = this.slots.subList(0, 2);
		List<BrokenGeneration> broken = new CopyOnWriteArrayList<>();
		both.forEach((rank) -> rank.onBroken(broken::add));
		List<CompletableFuture<Void>> ends = List.of(serve(0, LINGER), serve(1, LINGER));
		both.forEach((rank) -> awaitWorld(rank, 0));
		both.getLast().requireJoined().abort(ExitCode.ABORTED, "asked for");
		ends.forEach((end) -> assertThat(end).failsWithin(LIMIT));
		Awaitility.await().atMost(LIMIT).until(() -> broken.size() >= 2);
		assertThat(broken).hasSize(2).allSatisfy((each) -> {
			assertThat(each.failure().kind()).isEqualTo(Failure.Kind.ABORTED);
			assertThat(each.trace()).isNotNull();
		});
		both.forEach((rank) -> assertThat(rank.brokenGenerations()).hasSize(1));
	}

	@Test
	void aRankThatMayNotContinueAnswersRequestsForTheLingerTimeIfItIsSet(CapturedOutput output) {
		List<GroupLifecycle> both = this.slots.subList(0, 2);
		List<CompletableFuture<Void>> ends = List.of(serve(0, LINGER), serve(1, null));
		both.forEach((rank) -> awaitWorld(rank, 0));
		both.stream()
			.map(GroupLifecycle::requireJoined)
			.toList()
			.forEach((joined) -> joined.control()
				.fail(1, Failure.outside(Failure.Kind.MISMATCH, Failure.WORLD, List.of(1), "another collective")));
		assertThat(ends.getLast()).failsWithin(LIMIT);
		Awaitility.await()
			.atMost(LIMIT)
			.until(() -> output.getAll()
				.contains("another collective. Answering requests for another " + LINGER.toSeconds()));
		assertThat(ends.getFirst()).isNotDone();
	}

	/** Its HTTP service may still answer. */
	@Test
	void theGroupOfARankThatDoesNotContinueAfterALossIsBroken() {
		List<GroupLifecycle> both = this.slots.subList(0, 2);
		both.forEach(GroupLifecycle::start);
		GroupLifecycle rank0 = both.getFirst();
		List<CompletableFuture<Void>> ends = both.stream()
			.map((rank) -> CompletableFuture.<Void>supplyAsync(() -> rank.elastic().run(new Nothing(), (_) -> {
				if (rank != rank0) {
					this.end.await();
					return null;
				}
				rank.requireJoined()
					.control()
					.fail(1, Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(1),
							"its connection closed"));
				throw new IllegalStateException("the loop ends");
			}), Thread::startVirtualThread))
			.toList();
		assertThat(ends.getFirst()).failsWithin(LIMIT);
		assertThat(rank0.status().state()).isEqualTo(GroupState.BROKEN);
		assertThat(rank0.history().losses()).singleElement().satisfies((loss) -> assertThat(loss.ranks()).hasSize(1));
		assertThat(rank0.history().awaited()).isEmpty();
	}

	private GroupLifecycle slot(int slot) {
		return new GroupLifecycle(RankAssignment.onOneHost(slot, Math.max(2, slot + 1), this.masterPort),
				EngineSettings.DEFAULTS, (_, _, _) -> {
					throw new AssertionError("the group is elastic");
				}, CollectiveListener.NONE, this.settings);
	}

	private CompletableFuture<Void> serve(int slot, @Nullable Duration linger) {
		this.slots.get(slot).start();
		return new ElasticService(this.slots.get(slot), linger).end();
	}

	private static void awaitWorld(GroupLifecycle rank, long generation) {
		Awaitility.await().atMost(LIMIT).until(() -> {
			JoinedGroup joined = rank.joined();
			return rank.status().state() == GroupState.READY && joined != null && joined.world().worldSize() == 2
					&& joined.world().generation() >= generation;
		});
	}

	private static final class Nothing implements ElasticState {

		@Override
		public long step() {
			return 0;
		}

		@Override
		public void rollback() {
		}

		@Override
		public void synchronize(ProcessGroup group, int source) {
		}

		@Override
		public byte[] digest() {
			return new byte[0];
		}

	}

}
