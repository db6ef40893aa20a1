package io.tutti.engine.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class EngineAbortTest {

	/** The runtime may end every process at once, as {@code MPI_Abort} does. */
	@Test
	void theGroupFailsWithTheReasonBeforeTheRuntimeEndsTheJob() {
		List<String> ends = new ArrayList<>();
		try (Engine joined = Engine.join(RankAssignment.single(), EngineSettings.DEFAULTS, CollectiveListener.NONE)) {
			JobRuntime runtime = new JobRuntime() {
				@Override
				public void abort(int code, String reason) {
					ends.add(code + " for " + reason + ", group: "
							+ Objects.requireNonNull(joined.world().failure()).describe());
				}

				@Override
				public void close() {
				}
			};
			new Engine(joined.membership(), new GroupRegistry(CollectiveListener.NONE), joined.world(), runtime)
				.abort(80, "the disk is full");
		}
		assertThat(ends).singleElement()
			.asString()
			.startsWith("80 for the disk is full, group: ")
			.endsWith("the disk is full");
	}

}
