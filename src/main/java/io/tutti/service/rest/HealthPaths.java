package io.tutti.service.rest;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.ApiVersion;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.boot.health.actuate.endpoint.HealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointWebExtension;
import org.springframework.boot.health.contributor.HealthContributors;
import org.springframework.boot.health.registry.HealthContributorRegistry;
import org.springframework.boot.health.registry.ReactiveHealthContributorRegistry;
import org.springframework.http.HttpStatus;

/**
 * Responds to a path below the health endpoint that names no component with a problem.
 * Spring responds without a body, and with an internal error to a path below an unknown
 * component.
 */
@ConditionalOnAvailableEndpoint(endpoint = HealthEndpoint.class)
final class HealthPaths extends HealthEndpointWebExtension {

	private final HealthContributorRegistry components;

	private final HealthEndpointGroups groups;

	HealthPaths(HealthContributorRegistry components, ObjectProvider<ReactiveHealthContributorRegistry> reactive,
			HealthEndpointGroups groups) {
		super(components, reactive.getIfAvailable(), groups, null);
		this.components = components;
		this.groups = groups;
	}

	@Override
	public WebEndpointResponse<HealthDescriptor> health(ApiVersion apiVersion,
			@Nullable WebServerNamespace serverNamespace, SecurityContext securityContext, boolean showAll,
			String... path) {
		WebEndpointResponse<HealthDescriptor> response = exists(path)
				? super.health(apiVersion, serverNamespace, securityContext, showAll, path) : null;
		if (response == null || response.getStatus() == WebEndpointResponse.STATUS_NOT_FOUND) {
			throw new ProblemException(HttpStatus.NOT_FOUND, ProblemType.NOT_FOUND,
					"there is no health component " + String.join("/", path));
		}
		return response;
	}

	/** Whether a path names a group, a component, or a component of a group. */
	private boolean exists(String... path) {
		Object named = this.components;
		for (int index = (path.length > 0 && this.groups.get(path[0]) != null) ? 1 : 0; index < path.length; index++) {
			named = (named instanceof HealthContributors several) ? several.getContributor(path[index]) : null;
		}
		return named != null;
	}

}
