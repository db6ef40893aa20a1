package io.tutti.service.http;

import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.actuate.endpoint.web.EndpointMapping;

/**
 * The path of the health endpoint in its application, which contains the probes.
 */
public final class HealthEndpointPath {

	private static final String HEALTH = "health";

	private HealthEndpointPath() {
	}

	/** The configured path, as Spring maps it. */
	public static String of(WebEndpointProperties actuator) {
		return new EndpointMapping(actuator.getBasePath())
			.createSubPath(actuator.getPathMapping().getOrDefault(HEALTH, HEALTH));
	}

}
