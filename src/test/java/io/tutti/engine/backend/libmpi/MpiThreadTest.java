package io.tutti.engine.backend.libmpi;

import java.time.Duration;

import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The thread that calls the library continues after an error in an operation.
 */
@Timeout(60)
class MpiThreadTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private final ScriptedMpi library = new ScriptedMpi();

	private final MpiWorld world = this.library.world(1).world();

	@AfterEach
	void endTheLibrarysThread() {
		this.world.close(Deadline.after(LIMIT));
	}

	@Test
	void anErrorAtTheEndOfARequestFailsTheOperation() {
		this.library.completes();
		Failing operation = submit("ended");
		Awaitility.await().until(operation::isDone);
		assertThat(operation.failure()).hasRootCauseMessage("in ended");
		assertStillRuns();
	}

	@Test
	void anErrorInAnInspectionIsGivenToTheOperation() {
		Failing operation = submit("inspect");
		Awaitility.await().until(() -> operation.inspection != null);
		assertThat(operation.inspection).hasRootCauseMessage("in inspect");
		assertStillRuns();
	}

	private Failing submit(String failing) {
		Failing operation = new Failing(failing);
		this.world.submit(operation);
		return operation;
	}

	private void assertStillRuns() {
		MpiTask<String> task = new MpiTask<>((_) -> "done");
		this.world.submit(task);
		assertThat(task.result()).succeedsWithin(LIMIT);
	}

	/** An operation with an error in one of its methods. */
	private static final class Failing extends MpiOperation {

		private final String failing;

		private volatile @Nullable RuntimeException inspection;

		Failing(String failing) {
			super(requestMemory());
			this.failing = failing;
		}

		@Override
		boolean begin(MpiCalls calls) {
			return true;
		}

		@Override
		void ended(MpiCalls calls, int code) {
			failIn("ended");
		}

		@Override
		void inspect(MpiCalls calls) {
			failIn("inspect");
		}

		@Override
		void inspectionFailed(RuntimeException failure) {
			this.inspection = failure;
		}

		private void failIn(String method) {
			if (method.equals(this.failing)) {
				throw new AssertionError("in " + method);
			}
		}

	}

}
