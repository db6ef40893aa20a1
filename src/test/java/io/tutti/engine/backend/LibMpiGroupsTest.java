package io.tutti.engine.backend;

import java.time.Duration;

import io.tutti.CollectiveListener;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.backend.libmpi.ScriptedMpi;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Subgroups that the MPI library does not create.
 */
@Timeout(60)
class LibMpiGroupsTest {

	private static final Duration SHORT = Duration.ofMillis(200);

	/** For what is not blocked. */
	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** Longer than the test, so that no failure ends this process. */
	private static final Duration NEVER = Duration.ofDays(1);

	private static final Timeouts TIMEOUTS = new Timeouts(SHORT, NEVER, NEVER, NEVER, NEVER);

	private final ScriptedMpi library = new ScriptedMpi().completes();

	private final MpiWorld world = this.library.world(1).world();

	@AfterEach
	void endTheLibrarysThread() {
		this.library.unblock();
		this.world.close(Deadline.after(LIMIT));
	}

	@Test
	void aSubgroupThatIsNotCreatedInTimeBreaksItsParent() {
		ProcessGroup group = group();
		this.library.blocks("MPI_Comm_create_group");
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> group.split(0, 0))
			.withMessageContaining("creation of group world/0.0 by the MPI library did not complete within PT0.2S");
		assertThat(group.failure()).isNotNull();
		assertThat(this.world.fatalFailure()).isEqualTo(group.failure());
	}

	private ProcessGroup group() {
		GroupRegistry registry = new GroupRegistry(CollectiveListener.NONE);
		GroupIdentity identity = GroupIdentity.world(0, 1, 0);
		return new LibMpiGroups(this.world, new SimulatedControl(1).join(0, registry), registry, TIMEOUTS)
			.form(identity, registry.add(identity), Deadline.after(LIMIT));
	}

}
