package io.tutti.service.http;

import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Enforces {@code server.tomcat.max-connections} and
 * {@code server.tomcat.connection-timeout} so that a client cannot use them to shut out
 * others.
 */
public final class HttpLimits implements WebServerFactoryCustomizer<TomcatServletWebServerFactory>, Ordered {

	/** After Spring's own customizer, which applies the configuration. */
	private static final int ORDER = 100;

	/** Default if nothing is configured. */
	private static final int TOMCATS = 8192;

	/** One connection in four stays free for requests that are answered immediately. */
	private static final double PART_SERVED = 0.75;

	private final int maxConnections;

	private final String probes;

	HttpLimits(Environment environment, WebEndpointProperties actuator) {
		this.maxConnections = environment.getProperty("server.tomcat.max-connections", Integer.class, TOMCATS);
		this.probes = EndpointPath.of(actuator, "health");
	}

	@Override
	public void customize(TomcatServletWebServerFactory factory) {
		factory.setProtocol(LimitedHttpProtocol.class.getName());
		factory.addConnectorCustomizers((connector) -> {
			if (connector.getProtocolHandler() instanceof LimitedHttpProtocol protocol) {
				protocol.limitConnections();
			}
		});
		int served = (this.maxConnections < 0) ? Integer.MAX_VALUE : (int) (this.maxConnections * PART_SERVED);
		factory.addContextValves(new RequestLimit(served, this.probes));
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
