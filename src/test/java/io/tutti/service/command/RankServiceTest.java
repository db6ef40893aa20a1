package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_ERR)
class RankServiceTest {

	@SpringBootConfiguration(proxyBeanMethods = false)
	static class Nothing {

	}

	/** The threads of its server would keep the process alive. */
	@Test
	void anErrorClosesTheServiceAndIsAnInternalError(CapturedOutput output) {
		AtomicReference<ConfigurableApplicationContext> used = new AtomicReference<>();
		RankService service = new RankService(Nothing.class, List.of("--spring.main.web-application-type=none"),
				Map.of(), false);
		int code = service.run((context) -> {
			used.set(context);
			throw new OutOfMemoryError("Physical memory usage is too high");
		}, Duration.ofDays(1));
		assertThat(code).isEqualTo(ExitCode.INTERNAL);
		assertThat(used.get().isActive()).isFalse();
		assertThat(output.getErr())
			.contains("tutti: internal error: OutOfMemoryError: Physical memory usage is too high");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1 })
	void rankZeroWarnsOfAProfileThatSelectsNothing(int rank, CapturedOutput output) {
		RankService service = new RankService(Nothing.class, List.of("--spring.main.web-application-type=none",
				"--spring.profiles.active=npi", "--tutti.rank=" + rank, "--tutti.world-size=2"), Map.of(), false);
		assertThat(service.run((_) -> ExitCode.DONE, Duration.ofDays(1))).isEqualTo(ExitCode.DONE);
		String warning = "profile npi selects no backend and has no configuration (application-npi.yml)";
		assertThat(output.getAll().contains(warning)).isEqualTo(rank == 0);
	}

}
