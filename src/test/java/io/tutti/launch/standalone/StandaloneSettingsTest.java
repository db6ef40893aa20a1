package io.tutti.launch.standalone;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import io.tutti.CollectiveListener;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.PropertyNames;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionException;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class StandaloneSettingsTest {

	@Test
	void unsetPropertiesHaveTheDocumentedDefaults() {
		assertThat(settings(Map.of(), Map.of())).isEqualTo(EngineSettings.DEFAULTS);
	}

	@Test
	void variablesStandForProperties() {
		EngineSettings settings = settings(Map.of(),
				Map.of("TUTTI_RENDEZVOUS_JOBID", "mine", "TUTTI_TIMEOUT_HEARTBEAT", "1500ms", "TUTTI_TRANSPORT_KIND",
						"TCP", "TUTTI_TRANSPORT_PORT", "41000", "TUTTI_SECURITY_TOKEN", " secret \n",
						"TUTTI_TIMEOUT_ABORT", "PT1S"));
		assertThat(settings.jobId()).isEqualTo("mine");
		assertThat(settings.timeouts().heartbeat()).hasMillis(1500);
		assertThat(settings.timeouts().abort()).hasSeconds(1);
		assertThat(settings.sharedConfig().transport()).isEqualTo(TransportChoice.TCP);
		assertThat(settings.dataPort()).isEqualTo(41000);
		assertThat(settings.token()).isEqualTo("secret");
	}

	@Test
	void eachRankOfAHostHasItsOwnPortForData() {
		Map<String, String> second = Map.of("RANK", "1", "WORLD_SIZE", "2");
		assertThat(settings(Map.of("tutti.transport.port", "41000"), second).dataPort()).isEqualTo(41001);
		assertThat(settings(Map.of(), second).dataPort()).isZero();
		assertThatThrownBy(() -> settings(Map.of("tutti.transport.port", "65535"), second))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessage("tutti.transport.port=65535 plus local rank 1 exceeds the highest port, 65535. "
					+ "Set tutti.transport.port to 65534 or less, or to 0");
	}

	/** Spring accepts both spellings too. */
	@ParameterizedTest
	@ValueSource(strings = { "TUTTI_SECURITY_TOKENFILE", "TUTTI_SECURITY_TOKEN_FILE" })
	void aHyphenInAVariableIsLeftOutOrWrittenAsAnUnderscore(String variable, @TempDir Path folder) throws Exception {
		Path file = Files.writeString(folder.resolve("token"), "secret\n");
		assertThat(settings(Map.of(), Map.of(variable, file.toString())).token()).isEqualTo("secret");
	}

	@Test
	void aSystemPropertyOverridesItsVariable() {
		assertThat(settings(Map.of("tutti.rendezvous.job-id", "property"), Map.of("TUTTI_RENDEZVOUS_JOBID", "variable"))
			.jobId()).isEqualTo("property");
	}

	@ParameterizedTest
	@CsvSource({ "tutti.timeout.heartbeat, soon, a duration such as", "tutti.transport.port, 70000, a port in 0..65535",
			"tutti.transport.kind, pigeon, 'auto, tcp or shm'", "tutti.security.token, ' ', contains no token",
			"tutti.timeout.abort, 0s, more than zero", "tutti.tls.bundle, ranks, which needs Spring Boot",
			"tutti.tls.peer-name, ranks.example, which needs Spring Boot",
			"tutti.network.interface, ib0, which needs Spring Boot" })
	void anInvalidValueIsNamedWithTheExpectedValues(String name, String value, String expected) {
		assertThatThrownBy(() -> settings(Map.of(name, value), Map.of())).hasMessageContaining(expected);
	}

	@ParameterizedTest
	@CsvSource({ "tutti.rendezvous.job-id, job id", "tutti.transport.advertised-host, advertised host" })
	void aNameLongerThanARendezvousAdmitsIsRefused(String property, String name) {
		assertThatThrownBy(() -> settings(Map.of(property, "x".repeat(300)), Map.of()))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessage(name + " must have at most 256 characters, got 300");
		assertThat(settings(Map.of(property, "x".repeat(256)), Map.of())).isNotNull();
	}

	@Test
	void anEmptyAddressIsAsUnset() {
		assertThat(
				settings(Map.of(), Map.of("TUTTI_TRANSPORT_ADVERTISED_HOST", "", "TUTTI_RENDEZVOUS_BIND_ADDRESS", " ")))
			.isEqualTo(EngineSettings.DEFAULTS);
	}

	@Test
	void aRendezvousBeyondThisHostNeedsATokenOrAnonymousAccess() {
		Map<String, String> ranks = Map.of("RANK", "0", "WORLD_SIZE", "2", "LOCAL_WORLD_SIZE", "1", "LOCAL_RANK", "0",
				"MASTER_ADDR", "192.0.2.1");
		assertThatThrownBy(() -> settings(Map.of(), ranks)).hasMessageContaining("192.0.2.1")
			.hasMessageContaining("no token is set");
		assertThat(settings(Map.of("tutti.security.anonymous", "true"), ranks).token()).isNull();
		assertThat(settings(Map.of("tutti.security.token", "secret"), ranks).token()).isEqualTo("secret");
	}

	/** Each rank of an elastic job listens, also the only one. */
	@ParameterizedTest
	@CsvSource({ "1, '192.0.2.1:1', 127.0.0.1, 192.0.2.1", "1, '127.0.0.1:1', 0.0.0.0, 0.0.0.0",
			"2, '127.0.0.1:1,192.0.2.2:1', 127.0.0.1, 192.0.2.2" })
	void anElasticJobBeyondThisHostNeedsATokenOrAnonymousAccess(String worldSize, String endpoints, String bind,
			String exposed) {
		Map<String, String> job = Map.of("tutti.elastic.min-ranks", "1", "tutti.elastic.endpoints", endpoints,
				"tutti.rendezvous.bind-address", bind, "tutti.rank", "0", "tutti.world-size", worldSize);
		assertThatThrownBy(() -> elastic(job, "tutti.security.anonymous", "false"))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("rendezvous would listen on " + exposed)
			.hasMessageContaining("no token is set");
		assertThat(elastic(job, "tutti.security.anonymous", "true").minRanks()).isOne();
		assertThat(elastic(job, "tutti.security.token", "secret").minRanks()).isOne();
	}

	@Test
	void anElasticJobSettlesBeforeTheDeadlineOfItsFormation() {
		Map<String, String> job = Map.of("tutti.elastic.min-ranks", "1", "tutti.elastic.endpoints", "127.0.0.1:1",
				"tutti.rank", "0", "tutti.world-size", "1");
		assertThatThrownBy(() -> elastic(job, "tutti.elastic.settle", "5m"))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("tutti.elastic.settle (PT5M) must be less than tutti.timeout.rendezvous (PT5M)");
	}

	private static ElasticSettings elastic(Map<String, String> job, String name, String value) {
		Map<String, String> all = new HashMap<>(job);
		all.put(name, value);
		ProcessProperties properties = ProcessProperties.of(all, Map.of());
		ResolvedRank resolved = RankResolution.resolve(Map.of(), ResolutionSettings.from(properties::text));
		StandaloneSettings settings = new StandaloneSettings(properties);
		return settings.elastic(resolved, settings.of(resolved));
	}

	/** The group would end with a lost rank although the user asked to continue. */
	@ParameterizedTest
	@CsvSource({ "tutti.elastic.min-ranks, 2", "tutti.elastic.max-ranks, 4",
			"tutti.elastic.endpoints, '127.0.0.1:1,127.0.0.1:2'", "tutti.elastic.settle, 1s",
			"tutti.elastic.max-failures, 3", "tutti.elastic.quorum, strict" })
	void aGroupThatEndsWithALostRankRefusesThePropertiesOfAnElasticJob(String name, String value) {
		ProcessProperties properties = ProcessProperties.of(Map.of(name, value), Map.of());
		assertThatThrownBy(() -> new StandaloneGroups(properties).join(CollectiveListener.NONE))
			.isInstanceOfSatisfying(ResolutionException.class,
					(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.hasMessageContaining(name + "=" + value)
			.hasMessageContaining("ElasticGroup.fromEnvironment");
	}

	@ParameterizedTest
	@CsvSource(
			textBlock = """
					tutti.timeout.colective,   , unknown property tutti.timeout.colective. Did you mean tutti.timeout.collective?
					tutti.masterAddress,       , unknown property tutti.masterAddress. Did you mean tutti.master-address?
					, TUTTI_TIMEOUT_HEARTBEATS , unknown variable TUTTI_TIMEOUT_HEARTBEATS. Did you mean TUTTI_TIMEOUT_HEARTBEAT?
					tutti.security.tokenFile,  , unknown property tutti.security.tokenFile. Did you mean tutti.security.token-file?
					, TUTTI_SECURITY_TOKEN_FIL , unknown variable TUTTI_SECURITY_TOKEN_FIL. Did you mean TUTTI_SECURITY_TOKEN_FILE?
					""")
	void aMisspeltNameIsRefusedWithTheOneThatIsMeant(String property, String variable, String message) {
		StandaloneGroups groups = new StandaloneGroups(
				ProcessProperties.of((property != null) ? Map.of(property, "5m") : Map.of(),
						(variable != null) ? Map.of(variable, "5m") : Map.of()));
		for (ThrowingCallable join : List.<ThrowingCallable>of(() -> groups.join(CollectiveListener.NONE),
				() -> groups.joinElastic(CollectiveListener.NONE))) {
			assertThatThrownBy(join).isInstanceOf(BadConfigurationException.class).hasMessage(message);
		}
	}

	/** Of Tutti's other programs, Kubernetes, and an application that is named so. */
	@Test
	void namesOfOthersAreNoMisspellings() {
		Set<String> variables = Set.of("TUTTI_VECTORS", "TUTTI_JAVA_OPTS", "TUTTI_RECORD", "TUTTI_CACHE_FLAGS",
				"TUTTI_STOP_SIGNAL", "TUTTI_ENABLE_GPU_FALLBACK", "TUTTI_PROBE_AUTHORITY", "TUTTI_POD_INDEX",
				"TUTTI_LIVE_LINES", "TUTTI_LAUNCHER_PID", "TUTTI_LAUNCHER_HOST", "TUTTI_SERVICE_HOST",
				"TUTTI_SERVICE_PORT", "TUTTI_PORT", "TUTTI_PORT_8080_TCP_ADDR", "TUTTI_HEALTH_PORT",
				"TUTTI_HEALTH_SERVICE_HOST", "TUTTI_TIMEOUT_PORT", "TUTTI_PAGE_PORT", "TUTTI_TRANSPORT_SERVICE_HOST",
				"TUTTI_RENDEZVOUS_PORT", "TUTTI_BACKEND_URL", "TUTTI_HTTP_HOST", "TUTTI_HTTP_SERVICE_PORT",
				"TUTTI_TLS_PORT_443_TCP_PORT", "TUTTI_TRAIN_SERVICE_HOST", "TUTTI_ELASTIC_ENDPOINTS_0",
				"TUTTI_ELASTIC_MAX_RANKS", "PATH");
		assertThat(PropertyNames.ofTutti().names()).contains("tutti.timeout.abort", "tutti.rank");
		assertThat(PropertyNames.ofTutti()
			.misspelt(Set.of("tutti.acme.learning-rate", "tutti.elastic.endpoints[0]", "java.version"), variables))
			.isNull();
	}

	@Test
	void aShortHeartbeatShortensTheWaitForAVerdict() {
		Timeouts timeouts = settings(Map.of("tutti.timeout.heartbeat", "3s"), Map.of()).timeouts();
		assertThat(timeouts.abort()).hasSeconds(3);
		assertThat(settings(Map.of("tutti.timeout.heartbeat", "9s"), Map.of()).timeouts().abort()).hasSeconds(5);
	}

	@Test
	void aTokenLongerThanOneOfTheServiceIsRefused() {
		assertThatThrownBy(() -> settings(Map.of("tutti.security.token", "x".repeat(4097)), Map.of()))
			.hasMessageContaining("tutti.security.token is longer than 4096 bytes");
	}

	/** A header of HTTP has no agreed encoding of other characters. */
	@ParameterizedTest
	@ValueSource(strings = { "sésame", "open\tsesame", "open\nsesame", "sesame\u007f" })
	void aTokenThatNoRequestCanCarryIsRefusedWithoutBeingShown(String token) {
		assertThatThrownBy(() -> settings(Map.of("tutti.security.token", token), Map.of()))
			.isInstanceOfSatisfying(BadConfigurationException.class,
					(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.hasMessageContaining("tutti.security.token has a character other than printable ASCII")
			.hasMessageNotContaining(token);
		assertThat(settings(Map.of("tutti.security.token", "open ~ sesame! "), Map.of()).token())
			.isEqualTo("open ~ sesame!");
	}

	@Test
	void aTokenCanBeReadFromAFile(@TempDir Path folder) throws Exception {
		Path file = Files.writeString(folder.resolve("token"), "secret\n");
		assertThat(settings(Map.of("tutti.security.token-file", file.toString()), Map.of()).token())
			.isEqualTo("secret");
		Files.writeString(file, "x".repeat(5000));
		assertThatThrownBy(() -> settings(Map.of("tutti.security.token-file", file.toString()), Map.of()))
			.hasMessageContaining("4096");
		assertThatThrownBy(() -> settings(Map.of("tutti.security.token-file", "/dev/zero"), Map.of()))
			.hasMessageContaining("it is no regular file");
		Path missing = folder.resolve("missing");
		assertThatThrownBy(() -> settings(Map.of("tutti.security.token-file", missing.toString()), Map.of()))
			.isInstanceOf(IllegalArgumentException.class)
			.hasMessage("token file " + missing + " cannot be read: there is no such file. "
					+ "Check tutti.security.token-file and the file's permissions");
	}

	@ParameterizedTest
	@CsvSource({ "tutti.timeout.abort, x", "tutti.transport.kind, udp", "tutti.timeout.abort, 1m",
			"tutti.tls.bundle, b", "tutti.collective.algorithms, foo=bar", "tutti.security.token-file, /nowhere" })
	void anInvalidPropertyHasTheExitCodeOfABadConfiguration(String name, String value) {
		assertThatThrownBy(() -> settings(Map.of(name, value), Map.of())).isInstanceOf(BadConfigurationException.class)
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.BAD_CONFIGURATION));
	}

	@ParameterizedTest
	@CsvSource({ "tutti.elastic.quorum, any", "tutti.elastic.min-ranks, x", "tutti.elastic.endpoints, :::",
			"tutti.elastic.max-ranks, x" })
	void anInvalidPropertyOfAnElasticGroupHasThatExitCodeToo(String name, String value) {
		Map<String, String> all = new HashMap<>(
				Map.of("tutti.elastic.min-ranks", "1", "tutti.elastic.endpoints", "127.0.0.1:1"));
		all.put(name, value);
		StandaloneGroups groups = new StandaloneGroups(ProcessProperties.of(all, Map.of()));
		assertThatThrownBy(() -> groups.joinElastic(CollectiveListener.NONE))
			.satisfies((ex) -> assertThat(ExitCode.of(ex)).isEqualTo(ExitCode.BAD_CONFIGURATION));
	}

	@Test
	void aGroupOfOneNeedsNoSettingsAndCanBeJoinedAgainOnceClosed() {
		for (int round = 0; round < 2; round++) {
			ProcessGroup group = new StandaloneGroups(ProcessProperties.of(Map.of(), Map.of()))
				.join(CollectiveListener.NONE);
			group.barrier();
			group.close();
			group.close();
			assertThat(group.state().name()).isEqualTo("CLOSED");
		}
	}

	private static EngineSettings settings(Map<String, String> systemProperties, Map<String, String> variables) {
		ProcessProperties properties = ProcessProperties.of(systemProperties, variables);
		return new StandaloneSettings(properties)
			.of(RankResolution.resolve(variables, ResolutionSettings.from(properties::text)));
	}

	@Test
	void theBackendIsChosenByItsProperty() {
		assertThat(settings(Map.of(), Map.of()).backend()).isEqualTo("tcp");
		EngineSettings mpi = settings(Map.of("tutti.backend", "mpi"), Map.of("TUTTI_MPI_LIBRARY", "mpich"));
		assertThat(mpi.backend()).isEqualTo("mpi");
		assertThat(mpi.mpiLibrary()).isEqualTo("mpich");
		StandaloneGroups groups = new StandaloneGroups(ProcessProperties.of(Map.of("tutti.backend", "tpc"), Map.of()));
		assertThatThrownBy(() -> groups.join(CollectiveListener.NONE)).isInstanceOf(BackendUnavailableException.class)
			.hasMessageContaining("backend tpc is not available")
			.hasMessageContaining("tcp, mpi, nccl as tutti.backend");
	}

	@Test
	void anMpiLibraryThatTheBackendDoesNotUseIsRefused() {
		assertThatThrownBy(() -> settings(Map.of(), Map.of("TUTTI_MPI_LIBRARY", "openmpi")))
			.isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("tutti.mpi.library=openmpi has no effect on the backend tcp")
			.hasMessageContaining("mpi as the Spring profile or as tutti.backend");
	}

	/** A program on the API of MPI needs no backend. */
	@Test
	void anMpiLibraryAloneIsEnoughForTheApiOfMpi() {
		assertThatThrownBy(() -> MpiEnvironment.init(Map.of("TUTTI_MPI_LIBRARY", "/no/libmpi.so")))
			.isInstanceOf(BackendUnavailableException.class)
			.hasMessageContaining("no library at /no/libmpi.so");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tcp", "mpi" })
	void anEmptyMpiLibraryIsAsUnset(String backend) {
		Map<String, String> variables = Map.of("TUTTI_MPI_LIBRARY", " ", "TUTTI_BACKEND", backend);
		assertThat(settings(Map.of(), variables).mpiLibrary()).isNull();
		MpiEnvironment.init(variables).close();
	}

	@Test
	@Timeout(60)
	void aGroupOfOneRunsOnTheChosenBackend() {
		try (ProcessGroup group = new StandaloneGroups(ProcessProperties.of(Map.of("tutti.backend", "mpi"), Map.of()))
			.join(CollectiveListener.NONE)) {
			assertThat(group.backend()).isEqualTo("mpi");
			group.barrier();
		}
	}

	@Test
	@Timeout(60)
	void aProcessHasOneGroupFromItsEnvironmentAtATime() {
		StandaloneGroups groups = new StandaloneGroups(ProcessProperties.of(Map.of(), Map.of()));
		for (int round = 0; round < 2; round++) {
			try (ProcessGroup group = groups.join(CollectiveListener.NONE)) {
				assertThatThrownBy(() -> groups.join(CollectiveListener.NONE)).isInstanceOf(IllegalStateException.class)
					.hasMessageContaining("fromEnvironment already")
					.hasMessageContaining("split");
				group.barrier();
			}
		}
	}

	@Test
	@Timeout(60)
	void aGroupWhoseReleaseFailsMayBeJoinedAgain() {
		StandaloneGroups groups = new StandaloneGroups(ProcessProperties.of(Map.of(), Map.of()));
		ProcessGroup group = groups.join(CollectiveListener.NONE);
		group.split(0, 0).onClose(() -> {
			throw new IllegalStateException("a resource is in use");
		});
		assertThatThrownBy(group::close).hasMessage("a resource is in use");
		groups.join(CollectiveListener.NONE).close();
	}

}
