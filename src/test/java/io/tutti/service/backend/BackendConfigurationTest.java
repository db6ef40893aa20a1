package io.tutti.service.backend;

import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Availability;
import io.tutti.engine.backend.Backend;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.mpi.Communicator;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class BackendConfigurationTest {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ProcessGroupAutoConfiguration.class));

	@ParameterizedTest
	@CsvSource({ "'', tcp", "production, tcp", "tcp, tcp", "mpi, mpi", "'production,mpi', mpi" })
	void theProfileSelectsTheBackend(String profiles, String name) {
		this.runner.withPropertyValues("spring.profiles.active=" + profiles).run((context) -> {
			assertThat(context.getBean(Backend.class).name()).isEqualTo(name);
			assertThat(context.getBean(EngineSettings.class).backend()).isEqualTo(name);
			context.getBean(ProcessGroup.class).barrier();
		});
	}

	@Test
	void theProfileMpiHasACommunicatorOfTheGroup() {
		this.runner.withPropertyValues("spring.profiles.active=mpi").run((context) -> {
			Communicator communicator = context.getBean(Communicator.class);
			communicator.barrier();
			assertThat(communicator.size()).isOne();
		});
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(Communicator.class));
	}

	@Test
	void theProfileNcclFailsWithoutAGpuAndNamesTheAction() {
		if (Backends.availability("nccl", EngineSettings.DEFAULTS).available()) {
			return;
		}
		this.runner.withPropertyValues("spring.profiles.active=nccl")
			.run((context) -> assertThat(context).getFailure().rootCause().hasMessageContaining("nccl"));
	}

	@Test
	void collectivesOnDeviceMemoryAreDefinedWhereTheyAreAllowed() {
		for (String allowed : List.of("true", "1", "yes")) {
			this.runner.withPropertyValues("tutti.gpu.host-fallback=" + allowed)
				.run((context) -> assertThat(context.getBeanNamesForType(DeviceCollectives.class)).hasSize(1));
		}
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(DeviceCollectives.class));
	}

	@Test
	void anApplicationsOwnBackendIsUsed() {
		this.runner.withUserConfiguration(OwnBackend.class).run((context) -> {
			context.getBean(ProcessGroup.class).barrier();
			assertThat(context.getBean(EngineSettings.class).backend()).isEqualTo("own");
			assertThat(context.getBean(Recording.class).joined).isTrue();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnBackend {

		@Bean
		Recording ownBackend() {
			return new Recording();
		}

	}

	/** The backend tcp under another name. */
	static final class Recording implements Backend {

		private volatile boolean joined;

		@Override
		public String name() {
			return "own";
		}

		@Override
		public Availability availability(EngineSettings settings) {
			return Backends.of(Backends.TCP).availability(settings);
		}

		@Override
		public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
			this.joined = true;
			return Backends.of(Backends.TCP).join(assignment, settings, events);
		}

	}

}
