package io.tutti.service.config;

import java.net.InetAddress;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Binds HTTP to its address and to this rank's own port. Spring's {@code server.address}
 * and {@code server.port} are followed as they are where they are set, but not past the
 * {@link ExposureCheck}.
 */
final class HttpBinding implements WebServerFactoryCustomizer<ConfigurableWebServerFactory>, Ordered {

	/** After Spring's own, which binds every address unless told otherwise. */
	private static final int ORDER = 100;

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
		this.exposure.requireSafeHttp(address());
		factory.setAddress(address());
		if (!this.environment.containsProperty("server.port")) {
			factory.setPort(this.properties.portOf(this.localRank));
		}
		if (this.environment.containsProperty("management.server.port")) {
			this.exposure.requireSafeHttp(address("management.server.address"));
		}
	}

	/** Where HTTP answers. */
	InetAddress address() {
		InetAddress given = address("server.address");
		return (given != null) ? given : this.properties.address();
	}

	private @Nullable InetAddress address(String property) {
		return this.environment.getProperty(property, InetAddress.class);
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
