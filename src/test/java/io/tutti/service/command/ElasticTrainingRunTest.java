package io.tutti.service.command;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.tutti.BadConfigurationException;
import io.tutti.CollectiveListener;
import io.tutti.ElasticEvent;
import io.tutti.ExitCode;
import io.tutti.FreePort;
import io.tutti.OwnThread;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.service.config.TrainProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.job.RankShares;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(60)
@SharesLibtorch
class ElasticTrainingRunTest {

	@ParameterizedTest
	@ValueSource(strings = { "cuda", "cuda:1" })
	void aGpuIsRefused(String device) {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireProcessor(new TrainProperties(device)))
			.withMessageContaining("tutti.train.device=" + device)
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void anOptimizerDividedAmongTheRanksIsRefused() {
		TrainingOptions whole = TrainingOptions.defaults();
		assertThatCode(() -> ElasticTrainingRun.requireWholeOptimizer(whole)).doesNotThrowAnyException();
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireWholeOptimizer(whole.withShardedOptimizer(true)))
			.withMessageContainingAll("--sharded-optimizer", "--min-ranks")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void sharesThatHoldForOneNumberOfRanksAreRefused() {
		TrainingOptions equal = TrainingOptions.defaults();
		TrainingOptions weighted = new TrainingOptions(1, 32, 1, 1, null, null, RankShares.parse("1,2,2"));
		assertThatCode(() -> check(equal)).doesNotThrowAnyException();
		assertThatCode(() -> check(new TrainingOptions(1, 32, 1, 1, null, null, RankShares.MEASURED)))
			.doesNotThrowAnyException();
		assertThatExceptionOfType(BadConfigurationException.class).isThrownBy(() -> check(weighted))
			.withMessageContainingAll("--rank-weights [1.0, 2.0, 2.0]", "--min-ranks")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	/** Each rank may become rank 0, which writes it. */
	@Test
	void aReportThatARankCannotWriteIsRefused(@TempDir Path directory) {
		Path report = directory.resolve("none/report.json");
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> check(new TrainingOptions(1, 32, 1, 1, null, report)))
			.withMessageContaining("there is no directory " + report.getParent());
	}

	/** It passes over the training samples between the formation and the first step. */
	@Test
	void aStopOfARankThatHasJoinedStopsAllRanksAfterTheirFirstStep() {
		int masterPort = FreePort.next();
		ElasticSettings elastic = new ElasticSettings(2, Duration.ZERO, 0, QuorumRule.LIVE,
				Stream.generate(() -> new Endpoint("127.0.0.1", FreePort.next())).limit(2).toList());
		List<GroupLifecycle> ranks = Stream.of(0, 1)
			.map((rank) -> new GroupLifecycle(RankAssignment.onOneHost(rank, 2, masterPort), EngineSettings.DEFAULTS,
					(_, _, _) -> {
						throw new AssertionError("the group is elastic");
					}, CollectiveListener.NONE, elastic))
			.toList();
		ranks.forEach(GroupLifecycle::start);
		List<StopRequest> stops = List.of(new StopRequest(Map.of()), new StopRequest(Map.of()));
		ranks.getLast().elastic().onEvent((event) -> {
			if (event instanceof ElasticEvent.Formed) {
				stops.getLast().ask("SIGTERM");
			}
		});
		try {
			List<CompletableFuture<Integer>> codes = Stream.of(0, 1)
				.map((rank) -> CompletableFuture.supplyAsync(() -> run(ranks.get(rank)).run(stops.get(rank)),
						OwnThread.EXECUTOR))
				.toList();
			assertThat(codes).allSatisfy((code) -> assertThat(code).succeedsWithin(Duration.ofSeconds(50))
				.isEqualTo(ExitCode.STOPPED_ON_REQUEST));
		}
		finally {
			ranks.forEach(GroupLifecycle::stop);
		}
	}

	/** The limit of the drain would halt this virtual machine. */
	private static ElasticTrainingRun run(GroupLifecycle rank) {
		return new ElasticTrainingRun(rank, new ClassifierTask(ClassifierOptions.defaults()),
				TrainingOptions.defaults(), TrainingListener.NONE, Duration.ofDays(1), Optional::empty);
	}

	/** The context of any rank. */
	private static void check(TrainingOptions options) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			context.registerBean(TrainProperties.class, () -> new TrainProperties("cpu"));
			context.refresh();
			ElasticTrainingRun.check(context, options);
		}
	}

	@Test
	void theCpuIsUsedAlsoWhereTheDeviceIsLeftOpen() {
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("auto")))
			.doesNotThrowAnyException();
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("cpu")))
			.doesNotThrowAnyException();
	}

}
