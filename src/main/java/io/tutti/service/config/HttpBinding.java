package io.tutti.service.config;

import java.net.InetAddress;
import java.util.stream.Collectors;

import io.tutti.BadConfigurationException;
import io.tutti.engine.control.LocalAddress;
import io.tutti.launch.ExposureCheck;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.autoconfigure.web.server.ManagementPortType;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Binds HTTP to its address and to this rank's own port. Spring's {@code server.address}
 * and {@code server.port} take precedence where they are set, but the
 * {@link ExposureCheck} applies to them too.
 */
final class HttpBinding implements WebServerFactoryCustomizer<ConfigurableWebServerFactory>, Ordered {

	/** After Spring's own customizer, which binds every address by default. */
	private static final int ORDER = 100;

	private static final String SPRING = "server.address";

	private static final String MANAGEMENT_PORT = "management.server.port";

	private static final String MANAGEMENT = "management.server.address";

	private final HttpProperties properties;

	private final int localRank;

	private final Environment environment;

	private final ExposureCheck exposure;

	HttpBinding(HttpProperties properties, int localRank, Environment environment, ExposureCheck exposure) {
		this.properties = properties;
		this.localRank = localRank;
		this.environment = environment;
		this.exposure = exposure;
	}

	@Override
	public void customize(ConfigurableWebServerFactory factory) {
		requireUsable((address(SPRING) != null) ? SPRING : "tutti.http.address", address());
		factory.setAddress(address());
		if (!this.environment.containsProperty("server.port")) {
			factory.setPort(this.properties.portOf(this.localRank));
		}
		ManagementPortType management = ManagementPortType.get(this.environment);
		if (management == ManagementPortType.SAME) {
			requireOnePort();
		}
		else if (management == ManagementPortType.DIFFERENT) {
			requireUsable(MANAGEMENT, address(MANAGEMENT));
		}
	}

	/**
	 * Without {@code server.port}, Spring Boot takes its default port as that of HTTP,
	 * and gives the actuator no port of its own there.
	 */
	private void requireOnePort() {
		String port = this.environment.getProperty(MANAGEMENT_PORT);
		if (port != null && !this.environment.containsProperty("server.port")
				&& !port.equals(String.valueOf(this.properties.portOf(0)))) {
			throw new BadConfigurationException(
					MANAGEMENT_PORT + "=" + port + " would have no effect: Spring Boot takes it for the port of HTTP",
					"Set server.port as well, or another " + MANAGEMENT_PORT);
		}
	}

	/** The address that HTTP binds. */
	InetAddress address() {
		InetAddress given = address(SPRING);
		return (given != null) ? given : this.properties.address();
	}

	private void requireUsable(String property, @Nullable InetAddress address) {
		this.exposure.requireSafeHttp(property, address);
		requireOwn(property, address);
	}

	/** The web server's own error would not list the addresses of this host. */
	private static void requireOwn(String property, @Nullable InetAddress address) {
		if (address != null && !LocalAddress.isOfThisHost(address)) {
			String there = HostAddress.all()
				.stream()
				.filter((own) -> !own.address().isLinkLocalAddress())
				.map(HostAddress::text)
				.collect(Collectors.joining(", "));
			throw new BadConfigurationException(
					"HTTP cannot listen at " + address.getHostAddress() + ", which is not an address of this host",
					"Set " + property + " to one of: " + (there.isEmpty() ? "none, since no interface is up" : there));
		}
	}

	private @Nullable InetAddress address(String property) {
		return this.environment.getProperty(property, InetAddress.class);
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
