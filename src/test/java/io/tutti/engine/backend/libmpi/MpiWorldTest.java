package io.tutti.engine.backend.libmpi;

import java.time.Duration;

import io.tutti.engine.spi.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of the world of an MPI library.
 */
@Timeout(60)
class MpiWorldTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private final ScriptedMpi library = new ScriptedMpi();

	private final MpiWorld world = this.library.world(1).world();

	@Test
	void anInterruptedThreadWaitsForTheEndOfTheLibrary() {
		Thread.currentThread().interrupt();
		try {
			assertThat(this.world.close(Deadline.after(LIMIT))).isTrue();
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		assertThat(this.library.calls("MPI_Finalize")).isEqualTo(1);
	}

	@Test
	void aLibraryThatDoesNotEndInTimeIsReported() {
		this.library.blocks("MPI_Finalize");
		try {
			assertThat(this.world.close(Deadline.after(Duration.ofMillis(50)))).isFalse();
		}
		finally {
			this.library.unblock();
		}
	}

}
