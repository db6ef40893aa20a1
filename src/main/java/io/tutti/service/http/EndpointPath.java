package io.tutti.service.http;

import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.boot.actuate.endpoint.web.EndpointMapping;

/**
 * The path of an endpoint of the actuator below that of its servlet.
 */
public final class EndpointPath {

	private EndpointPath() {
	}

	/** The configured path, as Spring maps it. */
	public static String of(WebEndpointProperties actuator, String endpoint) {
		return new EndpointMapping(actuator.getBasePath())
			.createSubPath(actuator.getPathMapping().getOrDefault(endpoint, endpoint));
	}

}
