package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import io.tutti.BadConfigurationException;
import io.tutti.FreePort;
import io.tutti.engine.device.HostFallback;
import io.tutti.ExitCode;
import io.tutti.service.TuttiApplication;
import io.tutti.service.config.RankLogging;
import io.tutti.service.config.StartupFailures;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.WebServerException;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications that must not start, from the command line to the error message.
 */
@Timeout(60)
@Isolated
class StartupFailureTest {

	private final PrintStream original = System.err;

	private final PrintStream originalOut = System.out;

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	@BeforeEach
	void capture() {
		System.setErr(new PrintStream(this.err, true, StandardCharsets.UTF_8));
		System.setOut(new PrintStream(this.out, true, StandardCharsets.UTF_8));
	}

	@AfterEach
	void release() {
		System.setErr(this.original);
		System.setOut(this.originalOut);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					--tutti.http.address=0.0.0.0           | HTTP would listen on 0.0.0.0
					--server.address=0.0.0.0               | HTTP would listen on 0.0.0.0
					--management.server.port=0             | HTTP would listen on every address
					--management.server.port=8080          | management.server.port=8080 would have no effect
					--tutti.rank=3                         | tutti.world-size is not set
					--tutti.rank=x                         | tutti.rank=x
					--tutti.timeout.abort=5m               | tutti.timeout.abort (PT5M) must not exceed tutti.timeout.heartbeat
					--tutti.timeout.collective=soon        | tutti.timeout.collective=soon is not a time such as 10s
					--tutti.timeout.colective=5m           | unknown property tutti.timeout.colective. Did you mean tutti.timeout.collective?
					--tutti.timeouts.heartbeat=5s          | unknown property tutti.timeouts.heartbeat. Did you mean tutti.timeout.heartbeat?
					--tutti.ranks=1                        | unknown property tutti.ranks. Did you mean tutti.rank?
					--tutti.warp-drive.engaged=true        | unknown property tutti.warp-drive.engaged. src/docs/configuration.md lists
					--tutti.http.port=abc                  | tutti.http.port=abc is not a whole number
					--tutti.http.address=no host           | tutti.http.address=no host is not an address or the name of a host
					--tutti.http-collectives.max-bytes=big | tutti.http-collectives.max-bytes=big is not a size such as 64MB
					--tutti.http.port=70000                | HTTP port must be in 0..65535, got 70000
					--tutti.transport.port=-1              | data port must be in 0..65535, got -1
					--tutti.security.token-file=/no/file   | token file /no/file cannot be read
					--tutti.enabled=false                  | tutti.enabled=false leaves this command without a group. Remove it
					--tutti.gpu.host-fallback=maybe        | tutti.gpu.host-fallback=maybe is not true or false
					--tutti.transport.kind=tpc             | tutti.transport.kind=tpc is not one of auto, tcp, shm
					--tutti.serve.linger=-3s               | linger must not be negative
					--tutti.launcher.on-conflict=maybe     | tutti.launcher.on-conflict=maybe
					--tutti.rendezvous.job-id=             | job id must not be blank
					--tutti.tls.peer-name=ranks            | tutti.tls.peer-name=ranks is set without tutti.tls.bundle
					--tutti.tls.bundle=ranks               | tutti.tls.bundle=ranks is set without tutti.tls.peer-name
					--server.ssl.bundle=nobody             | unknown SSL bundle nobody. Describe it under spring.ssl.bundle.pem.nobody
					--server.ssl.certificate=file:/no/such.crt | HTTP cannot use TLS as configured in server.ssl
					--spring.profiles.active=tcp,mpi       | backend tcp and mpi is not available: only one backend
					--spring.profiles.active=nccl          | backend nccl is not available
					--tutti.mpi.library=openmpi            | tutti.mpi.library=openmpi has no effect on the backend tcp
					--tutti.enabled=maybe                  | tutti.enabled=maybe is not true or false
					--tutti.enabled=off                    | tutti.enabled=off leaves this command without a group. Remove it
					--tutti.log.quiet-others=maybe         | tutti.log.quiet-others=maybe is not true or false
					--tutti.http.enabled=maybe             | tutti.http.enabled=maybe is not true or false
					--tutti.page.enabled=maybe             | tutti.page.enabled=maybe is not true or false
					--tutti.health.enabled=maybe           | tutti.health.enabled=maybe is not true or false
					--tutti.metrics.enabled=maybe          | tutti.metrics.enabled=maybe is not true or false
					--tutti.tracing.enabled=maybe          | tutti.tracing.enabled=maybe is not true or false
					""")
	void eachMistakeEndsWith64AndOneLineThatNamesIt(String argument, String message) {
		assertThat(start(argument)).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1).first().asString().startsWith("tutti: ").contains(message);
		assertThat(this.out.toString(StandardCharsets.UTF_8)).isEmpty();
	}

	@Test
	void aMisspeltSystemPropertyEndsWith64AndTheNearestName() {
		System.setProperty("tutti.timeout.colective", "5m");
		try {
			assertThat(start()).isEqualTo(ExitCode.BAD_CONFIGURATION);
		}
		finally {
			System.clearProperty("tutti.timeout.colective");
		}
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("unknown property tutti.timeout.colective. Did you mean tutti.timeout.collective?");
	}

	@ParameterizedTest
	@CsvSource({ "tutti.rendezvous.job-id, tutti.rendezvous: job id",
			"tutti.transport.advertised-host, tutti.transport: advertised host" })
	void aNameLongerThanARendezvousAdmitsIsRefused(String property, String name) {
		assertThat(start("--" + property + "=" + "x".repeat(300))).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1).first().asString().contains(name + " must have at most 256 characters, got 300");
	}

	@Test
	void aRendezvousBeyondThisHostNeedsAToken() {
		assertThat(start("--tutti.rank=1", "--tutti.world-size=2", "--tutti.master-address=10.1.2.3"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1).first().asString().contains("10.1.2.3").contains("tutti.security.token");
	}

	@Test
	void anElasticJobBeyondThisHostNeedsAToken() {
		assertThat(start("--tutti.elastic.min-ranks=1", "--tutti.elastic.endpoints=192.0.2.1:29701"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1).first().asString().contains("192.0.2.1").contains("tutti.security.token");
	}

	/** A benchmark forms its group once. */
	@ParameterizedTest
	@ValueSource(strings = { "bench", "bench --training" })
	void aBenchmarkOfAnElasticGroupIsRefused(String command) {
		String line = command + " --tutti.elastic.min-ranks=1 --tutti.elastic.endpoints=127.0.0.1:" + FreePort.next();
		assertThat(TuttiCommand.commandLine(TuttiApplication.class).execute(line.split(" ")))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("bench cannot continue without a lost rank", "Unset tutti.elastic.min-ranks");
	}

	@Test
	void aDataPortPlusTheLocalRankMustBeAPort() {
		assertThat(start("--tutti.rank=1", "--tutti.world-size=2", "--tutti.transport.port=65535"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("tutti.transport.port=65535 plus local rank 1 exceeds the highest port");
	}

	@Test
	void anSslBundleWithMissingFilesIsNamed() {
		assertThat(start("--tutti.tls.bundle=ranks", "--tutti.tls.peer-name=ranks.test",
				"--spring.ssl.bundle.pem.ranks.keystore.certificate=file:/no/such.crt"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("SSL bundle ranks cannot be used")
			.contains("/no/such.crt");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aMissingHttpCertificateIsNamed(boolean watched) {
		assertThat(start("--server.ssl.bundle=web", "--spring.ssl.bundle.pem.web.reload-on-update=" + watched,
				"--spring.ssl.bundle.pem.web.keystore.certificate=file:/no/such.crt",
				"--spring.ssl.bundle.pem.web.keystore.private-key=file:/no/such.key"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("/no/such.crt")
			.contains("files, passwords and names");
	}

	@Test
	void aMissingMpiLibraryIsNamed() {
		assertThat(start("--spring.profiles.active=mpi", "--tutti.mpi.library=/no/libmpi.so"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("backend mpi is not available: no library at /no/libmpi.so")
			.contains("Set tutti.mpi.library");
	}

	@Test
	void aForeignHttpAddressIsNamedWithThisHostsAddresses() {
		assertThat(start("--tutti.http.address=192.0.2.1", "--tutti.security.anonymous=true"))
			.isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(told()).hasSize(1)
			.first()
			.asString()
			.contains("HTTP cannot listen at 192.0.2.1, which is not an address of this host")
			.containsPattern("Set tutti.http.address to one of: .*127\\.0\\.0\\.1");
	}

	/** Simulates a privileged port, since a test may run as a privileged user. */
	@Test
	void aPrivilegedPortIsAConfigurationErrorAndNotAnInternalError() {
		RuntimeException failure = new WebServerException("Unable to start embedded Tomcat",
				new IllegalArgumentException(new SocketException("Permission denied")));
		assertThat(StartupFailures.explain(failure)).isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("HTTP cannot listen: Permission denied")
			.hasMessageContaining("--http-port");
	}

	@Test
	void aTakenPortIsNamed() throws Exception {
		try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
			assertThat(start("--tutti.http.port=" + taken.getLocalPort())).isEqualTo(ExitCode.BAD_CONFIGURATION);
			assertThat(told()).hasSize(1)
				.first()
				.asString()
				.contains("HTTP port " + taken.getLocalPort() + " is already in use")
				.contains("--http-port");
		}
	}

	/** Errors about device memory recommend this property. */
	@Test
	void theHostFallbackPropertyTakesEffect() {
		SpringApplication spring = new SpringApplication(TuttiApplication.class);
		spring.addListeners(new RankLogging());
		try (ConfigurableApplicationContext context = spring.run("--tutti.http.port=0",
				"--tutti.gpu.host-fallback=true")) {
			assertThat(context.getBean(HostFallback.class).allowed()).isTrue();
		}
	}

	private int start(String... arguments) {
		return new RankService(TuttiApplication.class, List.of(arguments), Map.of("tutti.http.port", 0), false)
			.run((context) -> {
				throw new AssertionError("started with " + List.of(arguments));
			});
	}

	private List<String> told() {
		return this.err.toString(StandardCharsets.UTF_8).lines().toList();
	}

}
