package io.tutti.engine.backend;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.Message;
import io.tutti.engine.backend.PointToPointPair.Kind;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.p2p.MessageSettings;
import io.tutti.engine.p2p.PointToPointEngine;
import io.tutti.engine.p2p.UnexpectedMessageBudget;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.NoConnections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends and receives that are issued before, during and after a failure of the group all
 * end with the verdict.
 */
@Timeout(120)
class MessageFailureTest {

	/** How the group fails. */
	private enum Cause {

		VERDICT, DEADLINE, LEFT

	}

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final Duration LATER = Duration.ofMinutes(10);

	private static final int ROUNDS = 25;

	/** Far more operations than are issued before the group fails. */
	private static final int MOST = 200_000;

	private static final Failure VERDICT = Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1),
			"the verdict");

	private static MemorySegment buffer(int bytes) {
		return MemorySegment.ofArray(new byte[bytes]);
	}

	@ParameterizedTest
	@EnumSource
	void operationsBetweenAFailureAndItsVerdictEndWithTheVerdict(Kind kind) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			PointToPointEngine engine = pair.engine(0);
			List<CompletableFuture<?>> open = new ArrayList<>();
			open.add(inAThread(
					() -> engine.sendReceive(buffer(1), 1, buffer(1), 1, DataType.INT8, 0, Duration.ofMillis(1))));
			assertThat(pair.reports(0).poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).as("report").isNotNull();
			for (int bytes : new int[] { 0, 1, 65_536, 131_073 }) {
				open.add(engine.sendAsync(buffer(bytes), DataType.INT8, 1, 1, LATER));
				open.add(engine.sendAsync(buffer(bytes), DataType.INT8, 0, 1, LATER));
				open.add(engine.receiveAsync(buffer(bytes), DataType.INT8, 1, 2, LATER));
			}
			open.add(engine.receiveAsync(buffer(1), DataType.INT8, Message.ANY_SOURCE, Message.ANY_TAG, LATER));
			open.add(inAThread(() -> engine.send(buffer(140_000), DataType.INT8, 1, 3, LATER)));
			open.add(inAThread(() -> engine.receive(buffer(1), DataType.INT8, 1, 3, LATER)));
			open.add(inAThread(() -> engine.sendReceive(buffer(1), 1, buffer(1), 1, DataType.INT8, 4, LATER)));
			pair.issueVerdict(0, VERDICT);
			for (int i = 0; i < open.size(); i++) {
				assertThat(open.get(i)).as("operation " + i)
					.failsWithin(LIMIT)
					.withThrowableThat()
					.withCauseInstanceOf(GroupAbortedException.class)
					.withMessageContaining("the verdict");
			}
			assertThat(pair.reports(0)).as("further reports of the same failure").isEmpty();
		}
	}

	@Test
	void aLocalErrorEndsEveryOperationAndIsReported() throws Exception {
		GroupIdentity identity = GroupIdentity.world(0, 2, 0);
		FailureLatch latch = new FailureLatch();
		latch.reportTo(identity, latch::trip, Duration.ofSeconds(1));
		try (PointToPointEngine engine = new PointToPointEngine(identity, latch, new Broken(),
				new MessageSettings(true, LIMIT, new UnexpectedMessageBudget(UnexpectedMessageBudget.LIMIT)))) {
			CompletableFuture<Message> receive = engine.receiveAsync(buffer(1), DataType.INT8, 1, 0, LATER);
			assertThat(receive).failsWithin(LIMIT)
				.withThrowableThat()
				.withCauseInstanceOf(GroupAbortedException.class)
				.withMessageContaining("the selector is broken");
			assertThat(latch.failure()).isNotNull();
		}
	}

	/** Connections whose sleep throws an error. */
	private static final class Broken extends NoConnections {

		@Override
		public void sleep(long maxNanos) {
			throw new UncheckedIOException(new IOException("the selector is broken"));
		}

	}

	private static CompletableFuture<Void> inAThread(Runnable call) {
		return CompletableFuture.runAsync(call, (task) -> Thread.ofPlatform().start(task));
	}

	@ParameterizedTest
	@EnumSource
	void everyOperationEndsWithTheVerdictWheneverItIsIssued(Kind kind) throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		System.out.println("failing messages: -Dtutti.test.seed=" + seed);
		Random random = new Random(seed);
		for (int round = 0; round < ROUNDS; round++) {
			for (Cause cause : Cause.values()) {
				try {
					failAtSomeMoment(kind, cause, random.nextInt(400), random.nextInt(400));
				}
				catch (Exception | AssertionError ex) {
					throw new AssertionError("by " + cause + " in round " + round + " with -Dtutti.test.seed=" + seed,
							ex);
				}
			}
		}
	}

	/**
	 * Issues operations until they are rejected. The ranks are connected: over TCP, the
	 * connection reveals a departed rank.
	 * @param before operations issued before the failure
	 * @param between operations issued between the report of the failure and the verdict
	 */
	private static void failAtSomeMoment(Kind kind, Cause cause, int before, int between) throws Exception {
		try (PointToPointPair pair = new PointToPointPair(kind)) {
			pair.engine(0).send(buffer(1), DataType.INT8, 1, 9, LIMIT);
			pair.engine(1).receive(buffer(1), DataType.INT8, 0, 9, LIMIT);
			List<CompletableFuture<?>> open = new ArrayList<>();
			CompletableFuture<Void> failing = new CompletableFuture<>();
			int verdictAt = MOST;
			try {
				for (int i = 0; i < MOST; i++) {
					if (i == before) {
						failing = inAThread(() -> fail(pair, cause));
					}
					if (verdictAt == MOST && !pair.reports(0).isEmpty()) {
						verdictAt = i + between;
					}
					if (i >= verdictAt) {
						pair.issueVerdict(0, VERDICT);
					}
					open.add(issue(pair.engine(0), i));
				}
			}
			catch (CollectiveException ex) {
				assertThat(ex).hasMessageContaining("the verdict");
			}
			CompletableFuture.allOf(open.toArray(CompletableFuture[]::new))
				.handle((done, ex) -> null)
				.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
			assertThat(open.size()).as("operations").isLessThan(MOST);
			assertThat(open).filteredOn(CompletableFuture::isCompletedExceptionally)
				.allSatisfy((future) -> assertThat(future.exceptionNow()).isInstanceOf(GroupAbortedException.class)
					.hasMessageContaining("the verdict"));
			failing.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
		}
	}

	private static void fail(PointToPointPair pair, Cause cause) {
		switch (cause) {
			case VERDICT -> pair.issueVerdict(0, VERDICT);
			case DEADLINE -> {
				try {
					pair.engine(0).sendReceive(buffer(1), 1, buffer(1), 1, DataType.INT8, 9, Duration.ofNanos(1));
				}
				catch (CollectiveException ex) {
					// The expected failure.
				}
			}
			case LEFT -> pair.engine(1).close();
		}
	}

	private static CompletableFuture<?> issue(PointToPointEngine engine, int number) {
		return switch (number % 5) {
			case 0 -> engine.sendAsync(buffer(140_000), DataType.INT8, 1, 0, LATER);
			case 1, 2 -> engine.sendAsync(buffer(100), DataType.INT8, 1, 0, LATER);
			default -> engine.receiveAsync(buffer(100), DataType.INT8, 1, 1, LATER);
		};
	}

}
