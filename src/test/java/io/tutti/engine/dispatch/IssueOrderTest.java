package io.tutti.engine.dispatch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.tutti.OwnThread;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class IssueOrderTest {

	private final IssueOrder order = new IssueOrder();

	@Test
	void forgoneTicketsArePassedWhenTheirTurnComes() {
		long running = this.order.draw(1);
		long several = this.order.draw(3);
		long one = this.order.draw(1);
		long next = this.order.draw(1);
		this.order.forgo(one, 1);
		this.order.forgo(several, 3);
		assertThat(this.order.isTurn(running)).isTrue();
		CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> this.order.awaitTurn(next),
				OwnThread.EXECUTOR);
		this.order.pass(running);
		assertThat(this.order.isTurn(next)).isTrue();
		waiting.orTimeout(20, TimeUnit.SECONDS).join();
	}

	@Test
	void aTicketThatIsForgoneInItsTurnIsPassedAtOnce() {
		long running = this.order.draw(1);
		long next = this.order.draw(1);
		this.order.forgo(running, 1);
		assertThat(this.order.isTurn(next)).isTrue();
	}

	/** Many rounds, so that some forgo a ticket while the one before is passed. */
	@Test
	void aTicketIsPassedAlsoIfItIsForgoneWhileItsTurnComes() {
		try (ExecutorService other = Executors.newSingleThreadExecutor()) {
			for (int round = 0; round < 10_000; round++) {
				long running = this.order.draw(1);
				long forgone = this.order.draw(1);
				CompletableFuture<Void> passing = CompletableFuture.runAsync(() -> this.order.pass(running), other);
				this.order.forgo(forgone, 1);
				passing.join();
				assertThat(this.order.serving()).isEqualTo(forgone + 1);
			}
		}
	}

}
