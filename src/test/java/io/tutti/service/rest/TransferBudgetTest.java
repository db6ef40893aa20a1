package io.tutti.service.rest;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class TransferBudgetTest {

	private static final long KILO = 1 << 10;

	private static final Duration SHORT = Duration.ofMillis(20);

	private static final Duration LONG = Duration.ofSeconds(9);

	@Test
	void reservedMemoryIsUnavailableUntilReleased() {
		TransferBudget budget = new TransferBudget(4 * KILO, () -> false);
		TransferBudget.Reservation first = budget.reserve(3 * KILO, SHORT);
		assertThatThrownBy(() -> budget.reserve(2 * KILO, SHORT)).isInstanceOf(ProblemException.class)
			.hasMessageContaining("needs 2048 bytes and waited 20 ms")
			.hasMessageContaining("3072 of 4096 bytes (tutti.http-collectives.memory)");
		budget.reserve(KILO, SHORT).close();
		TransferBudget.Reservation part = first.split(2 * KILO);
		first.close();
		first.close();
		assertThatThrownBy(() -> budget.reserve(3 * KILO, SHORT)).isInstanceOf(ProblemException.class);
		part.close();
		budget.reserve(4 * KILO, SHORT).close();
	}

	@Test
	void memoryBeyondTheNeedIsReleased() {
		TransferBudget budget = new TransferBudget(4 * KILO, () -> false);
		TransferBudget.Reservation first = budget.reserve(4 * KILO, SHORT);
		first.shrink(KILO + 1);
		first.shrink(9 * KILO);
		budget.reserve(2 * KILO, SHORT).close();
		assertThatThrownBy(() -> budget.reserve(3 * KILO, SHORT)).isInstanceOf(ProblemException.class);
		first.close();
		budget.reserve(4 * KILO, SHORT).close();
	}

	@Test
	void callsAreServedInOrderOfArrival() {
		TransferBudget budget = new TransferBudget(4 * KILO, () -> false);
		TransferBudget.Reservation held = budget.reserve(3 * KILO, SHORT);
		List<Long> served = new CopyOnWriteArrayList<>();
		List<Thread> waiting = new ArrayList<>();
		for (long wanted : new long[] { 4 * KILO, KILO }) {
			Thread thread = Thread.ofPlatform().start(() -> {
				TransferBudget.Reservation reservation = budget.reserve(wanted, LONG);
				served.add(wanted);
				reservation.close();
			});
			waiting.add(thread);
			Awaitility.await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
		}
		assertThat(served).as("the small one does not overtake").isEmpty();
		held.close();
		Awaitility.await().until(() -> waiting.stream().noneMatch(Thread::isAlive));
		assertThat(served).containsExactly(4 * KILO, KILO);
	}

	@Test
	void unneededReservationsAreEvictedFirst() {
		AtomicReference<TransferBudget.@Nullable Reservation> kept = new AtomicReference<>();
		TransferBudget budget = new TransferBudget(4 * KILO, () -> {
			TransferBudget.Reservation dropped = kept.getAndSet(null);
			if (dropped != null) {
				dropped.close();
			}
			return dropped != null;
		});
		kept.set(budget.reserve(3 * KILO, SHORT));
		budget.reserve(4 * KILO, SHORT);
		assertThatThrownBy(() -> budget.reserve(1, SHORT)).isInstanceOf(ProblemException.class);
	}

	@Test
	void noMoreIsEvictedThanTheWaitingCallsNeed() {
		Deque<TransferBudget.Reservation> kept = new ConcurrentLinkedDeque<>();
		TransferBudget budget = new TransferBudget(64 * KILO, () -> {
			TransferBudget.Reservation dropped = kept.poll();
			if (dropped != null) {
				dropped.close();
			}
			return dropped != null;
		});
		List<TransferBudget.Reservation> held = Stream.generate(() -> budget.reserve(KILO, SHORT)).limit(64).toList();
		Thread waiting = Thread.ofPlatform().start(() -> budget.reserve(2 * KILO, LONG));
		Awaitility.await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
		kept.addAll(held);
		budget.relieve();
		Awaitility.await().until(() -> !waiting.isAlive());
		assertThat(kept).hasSize(62);
		budget.relieve();
		assertThat(kept).hasSize(62);
	}

}
