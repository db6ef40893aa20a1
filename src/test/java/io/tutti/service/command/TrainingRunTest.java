package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.ExitCode;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.RendezvousException;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TrainingDevice;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A training job whose group does not form.
 */
@Timeout(20)
@SharesLibtorch
@Isolated
class TrainingRunTest {

	private final FakeJoiner joiner = new FakeJoiner();

	private final GroupLifecycle group = new GroupLifecycle(RankAssignment.onOneHost(0, 2, 29500),
			EngineSettings.DEFAULTS, this.joiner, CollectiveListener.NONE);

	private final TrainingRun run = new TrainingRun(this.group, Duration.ofSeconds(30),
			new ClassifierTask(ClassifierOptions.defaults()), TrainingOptions.defaults(), TrainingListener.NONE,
			(_) -> TrainingDevice.CPU);

	private final StopRequest stop = new StopRequest(Map.of());

	@AfterEach
	void leave() {
		this.group.stop();
	}

	@Test
	void aStopDuringRendezvousEndsTheRankWith79() throws Exception {
		this.group.start();
		this.stop.ask("SIGTERM");
		PrintStream console = System.err;
		ByteArrayOutputStream said = new ByteArrayOutputStream();
		System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
		try {
			assertThat(this.run.run(this.stop)).isEqualTo(ExitCode.STOPPED_ON_REQUEST);
		}
		finally {
			System.setErr(console);
		}
		assertThat(said.toString(StandardCharsets.UTF_8)).contains("rank 0 got SIGTERM during rendezvous");
	}

	@Test
	void aRankStoppedDuringRendezvousStopsTheOtherRanks() throws Exception {
		this.group.start();
		this.joiner.waiting().get(10, TimeUnit.SECONDS);
		this.joiner.withdrew(1);
		assertThat(this.run.run(this.stop)).isEqualTo(ExitCode.STOPPED_ON_REQUEST);
	}

	@Test
	void aFailedRendezvousEndsTheRankWithTheReason() {
		this.group.start();
		RendezvousException refused = new RendezvousException(RankAssignment.onOneHost(1, 3, 29500),
				RendezvousException.Reason.AUTHENTICATION, "wrong token", List.of(), null);
		this.joiner.failed(refused);
		assertThatExceptionOfType(RendezvousException.class).isThrownBy(() -> this.run.run(this.stop))
			.isSameAs(refused);
		this.stop.ask("SIGTERM");
		assertThatExceptionOfType(RendezvousException.class).as("also if it is stopped at the same time")
			.isThrownBy(() -> this.run.run(this.stop))
			.isSameAs(refused);
	}

}
