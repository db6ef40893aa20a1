package io.tutti.service.config;

import java.net.InetAddress;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.launch.ExposureCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class HttpBindingTest {

	private final MockEnvironment environment = new MockEnvironment();

	private int boundPort(int httpPort) {
		TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory();
		new HttpBinding(
				new HttpProperties(InetAddress.getLoopbackAddress(), httpPort, List.of(), "/api/v1", "TUTTI_OPERATOR"),
				1, this.environment, new ExposureCheck(false))
			.customize(factory);
		return factory.getPort();
	}

	@Test
	void aDisabledActuatorPortExposesNothing() {
		this.environment.setProperty("management.server.port", "-1");
		assertThat(boundPort(8443)).isEqualTo(8444);
	}

	@ParameterizedTest
	@CsvSource({ "server.address, 0.0.0.0, server.address",
			"management.server.address, 0.0.0.0, management.server.address",
			"management.server.port, 9090, management.server.address" })
	void anOpenAddressIsRefusedWithThePropertyThatClosesIt(String property, String value, String closing) {
		this.environment.setConversionService(new ApplicationConversionService());
		this.environment.setProperty("management.server.port", "9090");
		this.environment.setProperty(property, value);
		assertThatExceptionOfType(BadConfigurationException.class).isThrownBy(() -> boundPort(8443))
			.withMessageContaining(", or " + closing + "=127.0.0.1, or set");
	}

	@Test
	void theActuatorMayBeNamedAtThePortOfHttp() {
		this.environment.setProperty("management.server.port", "8080");
		assertThat(boundPort(8080)).isEqualTo(8081);
	}

	/** Spring Boot would serve the actuator at the port of HTTP. */
	@Test
	void anActuatorPortThatWouldHaveNoEffectIsRefused() {
		this.environment.setProperty("management.server.port", "8080");
		assertThatExceptionOfType(BadConfigurationException.class).isThrownBy(() -> boundPort(8443))
			.withMessageContaining("management.server.port=8080 would have no effect");
	}

}
