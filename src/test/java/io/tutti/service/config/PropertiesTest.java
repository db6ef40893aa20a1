package io.tutti.service.config;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.tutti.BadConfigurationException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.TransportChoice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

import org.springframework.util.unit.DataSize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
class PropertiesTest {

	@TempDir
	private Path directory;

	@Test
	void withoutConfigurationTheDocumentedDefaultsApply() throws Exception {
		assertThat(bind("tutti.timeout", TimeoutProperties.class).timeouts()).isEqualTo(Timeouts.DEFAULTS);
		HttpProperties http = bind("tutti.http", HttpProperties.class);
		assertThat(http.address()).isEqualTo(InetAddress.getByName("127.0.0.1"));
		assertThat(http.port()).isEqualTo(8080);
		assertThat(bind("tutti.serve", ServeProperties.class).linger()).isNull();
		assertThat(bind("tutti.rendezvous", RendezvousProperties.class))
			.isEqualTo(new RendezvousProperties("default", null, null));
		assertThat(bind("tutti.transport", TransportProperties.class))
			.isEqualTo(new TransportProperties(0, null, "cubic", TransportChoice.AUTO, true));
		assertThat(SharedToken.of(bind("tutti.security", SecurityProperties.class)).isSet()).isFalse();
	}

	@Test
	void timeoutsAreReadAsDurationsAndCheckedAgainstEachOther() {
		TimeoutProperties properties = bind("tutti.timeout", TimeoutProperties.class, "tutti.timeout.collective",
				"90s");
		assertThat(properties.timeouts().collective()).isEqualTo(Duration.ofSeconds(90));
		assertThat(properties.timeouts().heartbeat()).isEqualTo(Timeouts.DEFAULTS.heartbeat());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new TimeoutProperties(null, null, Duration.ofSeconds(2), Duration.ofSeconds(3), null))
			.withMessageContaining("abort")
			.withMessageContaining("heartbeat");
	}

	@Test
	void eachRankOfAHostHasAPortOfItsOwn() throws Exception {
		HttpProperties http = new HttpProperties(InetAddress.getLoopbackAddress(), 9000, List.of(), "/api/v1",
				"TUTTI_OPERATOR");
		assertThat(http.portOf(0)).isEqualTo(9000);
		assertThat(http.portOf(3)).isEqualTo(9003);
		assertThat(new HttpProperties(InetAddress.getLoopbackAddress(), 0, List.of(), "/api/v1", "TUTTI_OPERATOR")
			.portOf(3)).isZero();
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> new HttpProperties(InetAddress.getLoopbackAddress(), 65535, List.of(), "/api/v1",
					"TUTTI_OPERATOR")
				.portOf(1))
			.withMessageContaining("65535");
	}

	@Test
	void portsOutOfRangeAreRejectedByName() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new TransportProperties(65536, null, "cubic", TransportChoice.AUTO, true))
			.withMessageContaining("0..65535")
			.withMessageContaining("65536");
		assertThatIllegalArgumentException().isThrownBy(
				() -> new HttpProperties(InetAddress.getLoopbackAddress(), -1, List.of(), "/api/v1", "TUTTI_OPERATOR"))
			.withMessageContaining("-1");
	}

	/**
	 * As {@code TUTTI_TRANSPORT_ADVERTISED_HOST=} of a template whose value is missing.
	 */
	@Test
	void anEmptyAddressIsAsUnset() {
		assertThat(bind("tutti.transport", TransportProperties.class, "tutti.transport.advertised-host", "")
			.advertisedHost()).isNull();
		assertThat(bind("tutti.rendezvous", RendezvousProperties.class, "tutti.rendezvous.bind-address", " ")
			.bindAddress()).isNull();
	}

	@Test
	void anEmptyMpiLibraryIsAsUnset() {
		assertThat(bind("tutti.mpi", MpiProperties.class, "tutti.mpi.library", " ").library()).isNull();
	}

	@Test
	void theTokenFileMayEndWithALineEnd() throws Exception {
		Path file = Files.writeString(this.directory.resolve("token"), "open sesame\n");
		SharedToken token = SharedToken.of(new SecurityProperties(null, file, false));
		assertThat(token.matches("open sesame")).isTrue();
		assertThat(token.matches("open sesame\n")).isFalse();
		assertThat(token.matches("")).isFalse();
	}

	@Test
	void anInvalidTokenIsRejected() throws Exception {
		Path empty = Files.writeString(this.directory.resolve("empty"), " \n");
		Path huge = Files.writeString(this.directory.resolve("huge"), "x".repeat(5000));
		Path missing = this.directory.resolve("missing");
		for (Path file : new Path[] { empty, huge, missing, this.directory, Path.of("/dev/zero") }) {
			assertThatExceptionOfType(BadConfigurationException.class)
				.isThrownBy(() -> SharedToken.of(new SecurityProperties(null, file, false)))
				.withMessageContaining(file.toString());
		}
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> SharedToken.of(new SecurityProperties("a", empty, false)))
			.withMessageContaining("token-file are both set");
	}

	@Test
	void theTokenIsRedacted() {
		SecurityProperties properties = new SecurityProperties("open sesame", null, false);
		assertThat(properties.toString()).doesNotContain("sesame");
		assertThat(SharedToken.of(properties).toString()).doesNotContain("sesame");
	}

	private static <T> T bind(String prefix, Class<T> type, String... nameAndValue) {
		Map<String, String> source = (nameAndValue.length == 0) ? Map.of() : Map.of(nameAndValue[0], nameAndValue[1]);
		return new Binder(new MapConfigurationPropertySource(source)).bindOrCreate(prefix, type);
	}

	@Test
	void theBodyOfACollectiveOverHttpFitsABuffer() {
		assertThat(new HttpCollectivesProperties(true, DataSize.ofBytes(Integer.MAX_VALUE), null).maxBytes())
			.isEqualTo(DataSize.ofBytes(Integer.MAX_VALUE));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new HttpCollectivesProperties(true, DataSize.ofGigabytes(2), null))
			.withMessage("max bytes must be in 1B..2147483647B, got 2147483648B");
	}

	@Test
	void theMemoryOfHttpCollectivesHoldsAtLeastOneCall() {
		assertThat(new HttpCollectivesProperties(true, DataSize.ofMegabytes(64), null).budget())
			.isEqualTo(DataSize.ofMegabytes(256));
		assertThat(new HttpCollectivesProperties(true, DataSize.ofGigabytes(1), null).budget())
			.isEqualTo(DataSize.ofGigabytes(2));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new HttpCollectivesProperties(true, DataSize.ofKilobytes(64), DataSize.ofKilobytes(127)))
			.withMessageContaining("one call, 131072B");
	}

}
