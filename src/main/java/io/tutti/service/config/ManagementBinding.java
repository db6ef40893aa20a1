package io.tutti.service.config;

import io.tutti.engine.RankAssignment;
import io.tutti.launch.Ports;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementServerProperties;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.core.Ordered;

/**
 * Adds the local rank to the actuator's own port, if it has one, as to the port of HTTP:
 * the ranks of a host would otherwise ask for the same one. An application that uses
 * Tutti as a library chooses its own ports.
 */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
@ConditionalOnBean(HttpBinding.class)
class ManagementBinding implements WebServerFactoryCustomizer<ConfigurableWebServerFactory>, Ordered {

	/** After Spring's own customizer, which sets the port of the properties. */
	private static final int ORDER = 100;

	private final int port;

	private final int localRank;

	ManagementBinding(ManagementServerProperties properties, RankAssignment assignment) {
		Integer port = properties.getPort();
		this.port = (port != null) ? port : 0;
		this.localRank = assignment.localRank();
	}

	@Override
	public void customize(ConfigurableWebServerFactory factory) {
		factory.setPort(Ports.plus("management.server.port", this.port, this.localRank));
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
