package io.tutti.service.command;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionException;

import io.tutti.CollectiveException;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.control.RendezvousException;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.job.TrainingDivergedException;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import io.tutti.training.table.MalformedDataException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(60)
@SharesLibtorch
class ExitCodeTest {

	@ParameterizedTest
	@CsvSource({ "TIMEOUT,75", "PEER_LOST,76", "MISMATCH,78", "ABORTED,76" })
	void eachFailureOfAGroupHasItsCode(Failure.Kind kind, int code) {
		Failure failure = Failure.outside(kind, Failure.WORLD, List.of(2), "seen");
		assertThat(ExitCode.of(CollectiveException.of(1, 4, failure, null))).isEqualTo(code);
	}

	@ParameterizedTest
	@CsvSource({ "TIMEOUT,75", "AUTHENTICATION,77", "DUPLICATE_RANK,78", "WORLD_SIZE,78", "STALE_GENERATION,78",
			"JOB,78", "PROTOCOL,78", "ADDRESS,64" })
	void eachRendezvousFailureHasItsCode(RendezvousException.Reason reason, int code) {
		assertThat(ExitCode
			.of(new RendezvousException(RankAssignment.onOneHost(1, 3, 29500), reason, "seen", List.of(), null)))
			.isEqualTo(code);
	}

	@Test
	void aRankThatCannotBeResolvedIsBadConfiguration() {
		ResolutionException failure = catchThrowableOfType(ResolutionException.class,
				() -> ResolutionSettings.from((name) -> name.equals("tutti.rank") ? "x" : null));
		assertThat(ExitCode.of(failure)).isEqualTo(64);
	}

	@Test
	void aKnownCauseIsFoundInsideWrappers() {
		RendezvousException cause = new RendezvousException(RankAssignment.onOneHost(1, 3, 29500),
				RendezvousException.Reason.TIMEOUT, "late", List.of(), null);
		assertThat(ExitCode.of(new CompletionException(new IllegalStateException(cause)))).isEqualTo(75);
	}

	@Test
	void aTrainingThatDivergedHasACodeOfItsOwn() {
		TrainingOptions options = new TrainingOptions(1, 32, 42, 1, null, null);
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			TrainingDivergedException failure = catchThrowableOfType(TrainingDivergedException.class,
					() -> new TrainingJob(world.group(0), new ClassifierTask(new ClassifierOptions(1e30, null)),
							options, TrainingListener.NONE)
						.run());
			assertThat(ExitCode.of(failure)).isEqualTo(65);
		}
	}

	@Test
	void malformedTrainingDataAreBadData(@TempDir Path folder) throws Exception {
		Path empty = Files.createFile(folder.resolve("empty.csv"));
		TrainingOptions options = new TrainingOptions(1, 32, 42, 1, null, null);
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			MalformedDataException failure = catchThrowableOfType(MalformedDataException.class,
					() -> new TrainingJob(world.group(0), new ClassifierTask(new ClassifierOptions(0.1, empty)),
							options, TrainingListener.NONE)
						.run());
			assertThat(ExitCode.of(failure)).isEqualTo(65);
		}
	}

	@Test
	void anUnknownFailureIsInternal() {
		assertThat(ExitCode.of(new IllegalStateException("bug"))).isEqualTo(70);
		assertThat(ExitCode.of(new NoClassDefFoundError("gone"))).isEqualTo(70);
	}

}
