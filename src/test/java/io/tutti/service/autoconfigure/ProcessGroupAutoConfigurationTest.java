package io.tutti.service.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.BadConfigurationException;
import io.tutti.ExitCode;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.device.HostFallback;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class ProcessGroupAutoConfigurationTest {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ProcessGroupAutoConfiguration.class));

	@Test
	void anApplicationWithoutALauncherHasAGroupOfOne() {
		this.runner.run((context) -> {
			ProcessGroup group = context.getBean(ProcessGroup.class);
			group.barrier();
			assertThat(group.worldSize()).isOne();
		});
	}

	@Test
	void theGroupIsLeftWhenTheApplicationStops() {
		GroupLifecycle[] lifecycle = new GroupLifecycle[1];
		this.runner.run((context) -> {
			lifecycle[0] = context.getBean(GroupLifecycle.class);
			context.getBean(ProcessGroup.class).barrier();
		});
		assertThat(lifecycle[0].joined().world().state().name()).isEqualTo("CLOSED");
	}

	@Test
	void anApplicationsOwnGroupIsNotReplaced() {
		this.runner.withUserConfiguration(OwnGroup.class).run((context) -> {
			assertThat(context.getBean(ProcessGroup.class).rank()).isEqualTo(2);
			assertThat(context).doesNotHaveBean(GroupLifecycle.class);
		});
	}

	@Test
	void theDocumentedPropertiesTakeEffect() {
		this.runner
			.withPropertyValues("tutti.timeout.heartbeat=7s", "tutti.rendezvous.job-id=mine", "tutti.rank=0",
					"tutti.world-size=1", "tutti.gpu.host-fallback=true")
			.run((context) -> {
				assertThat(context.getBean(EngineSettings.class).timeouts().heartbeat()).hasSeconds(7);
				assertThat(context.getBean(EngineSettings.class).jobId()).isEqualTo("mine");
				assertThat(context.getBean(HostFallback.class).allowed()).isTrue();
			});
	}

	@Test
	void callingLinesAreRecordedWithoutRecorderFiles() {
		this.runner.withPropertyValues("tutti.flight-recorder.sites=true").run((context) -> {
			context.getBean(ProcessGroup.class).barrier();
			assertThat(context.getBean(GroupLifecycle.class).joined().world().recorder().latest(1).getFirst().site())
				.isNotNull();
		});
	}

	@Test
	void aRendezvousBeyondThisHostWithoutATokenIsRejected() {
		this.runner.withPropertyValues("tutti.rank=0", "tutti.world-size=2", "tutti.master-address=192.0.2.1")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("no token is set"));
	}

	@Test
	void anApplicationWhoseGroupCannotFormAgainRefusesTheElasticProperties() {
		ApplicationContextRunner elastic = this.runner.withPropertyValues("tutti.elastic.min-ranks=1",
				"tutti.elastic.endpoints=127.0.0.1:1,127.0.0.1:2", "tutti.rank=0", "tutti.world-size=2",
				"tutti.master-address=127.0.0.1");
		ApplicationContextRunner lazy = elastic.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));
		for (ApplicationContextRunner each : List.of(elastic, lazy)) {
			each.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOfSatisfying(BadConfigurationException.class,
						(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
				.hasMessageContaining("the group of a Spring application cannot continue without a lost rank"));
		}
	}

	@Test
	void aCallWaitsUntilTheGroupHasFormed() throws Exception {
		FakeJoiner joiner = new FakeJoiner();
		GroupLifecycle lifecycle = lifecycle(joiner);
		ProcessGroup group = FormingGroup.of(lifecycle, EngineSettings.DEFAULTS.timeouts().rendezvous());
		lifecycle.start();
		CompletableFuture<Integer> rank = CompletableFuture.supplyAsync(group::rank, OwnThread.EXECUTOR);
		joiner.waiting().get(10, TimeUnit.SECONDS);
		assertThat(rank).isNotDone();
		assertThat(group.toString()).contains("FORMING");
		joiner.joined(new FakeGroup(1, 3, 0));
		assertThat(rank.get(10, TimeUnit.SECONDS)).isOne();
		lifecycle.stop();
	}

	@Test
	void aCallFailsWithTheReasonWhyTheGroupDidNotForm() {
		FakeJoiner joiner = new FakeJoiner();
		GroupLifecycle lifecycle = lifecycle(joiner);
		ProcessGroup group = FormingGroup.of(lifecycle, EngineSettings.DEFAULTS.timeouts().rendezvous());
		lifecycle.start();
		joiner.failed(new IllegalStateException("rank 2 never came"));
		assertThatThrownBy(group::barrier).isInstanceOf(GroupUnavailableException.class)
			.hasMessageContaining("rank 2 never came");
	}

	@Test
	void aCallTimesOut() {
		GroupLifecycle lifecycle = lifecycle(new FakeJoiner());
		ProcessGroup group = FormingGroup.of(lifecycle, java.time.Duration.ofMillis(50));
		lifecycle.start();
		assertThatThrownBy(group::barrier).isInstanceOf(GroupUnavailableException.class)
			.hasMessageContaining("has not formed yet");
		lifecycle.stop();
	}

	@Test
	void aCallBeforeTheApplicationStartsIsAnErrorInsteadOfAWait() {
		ProcessGroup group = FormingGroup.of(lifecycle(new FakeJoiner()),
				EngineSettings.DEFAULTS.timeouts().rendezvous());
		assertThatThrownBy(group::barrier).isInstanceOf(IllegalStateException.class)
			.hasMessageContaining("@PostConstruct");
	}

	private static GroupLifecycle lifecycle(FakeJoiner joiner) {
		return new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500), EngineSettings.DEFAULTS, joiner,
				io.tutti.CollectiveListener.NONE);
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnGroup {

		@Bean
		ProcessGroup ownGroup() {
			return new FakeGroup(2, 5, 0).world();
		}

	}

}
