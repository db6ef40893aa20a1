package io.tutti.service.health;

import java.util.LinkedHashMap;
import java.util.Map;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;
import org.springframework.core.env.Environment;

/**
 * Adds the group's health to the readiness probe and the engine's to the liveness probe,
 * unless the application configures the members of the probe.
 */
final class ProbeMembers implements HealthEndpointGroupsPostProcessor {

	private static final Map<String, String> MEMBERS = Map.of("readiness", "group", "liveness", "engine");

	private final Environment environment;

	ProbeMembers(Environment environment) {
		this.environment = environment;
	}

	@Override
	public HealthEndpointGroups postProcessHealthEndpointGroups(HealthEndpointGroups groups) {
		Map<String, HealthEndpointGroup> all = new LinkedHashMap<>();
		for (String name : groups.getNames()) {
			HealthEndpointGroup group = groups.get(name);
			String member = isConfigured(name) ? null : MEMBERS.get(name);
			all.put(name, (member != null) ? new Extended(group, member) : group);
		}
		return HealthEndpointGroups.of(groups.getPrimary(), all);
	}

	private boolean isConfigured(String group) {
		String prefix = "management.endpoint.health.group." + group + ".include";
		return this.environment.containsProperty(prefix) || this.environment.containsProperty(prefix + "[0]");
	}

	private record Extended(HealthEndpointGroup group, String member) implements HealthEndpointGroup {

		@Override
		public boolean isMember(String name) {
			return name.equals(this.member) || this.group.isMember(name);
		}

		@Override
		public boolean showComponents(SecurityContext context) {
			return this.group.showComponents(context);
		}

		@Override
		public boolean showDetails(SecurityContext context) {
			return this.group.showDetails(context);
		}

		@Override
		public StatusAggregator getStatusAggregator() {
			return this.group.getStatusAggregator();
		}

		@Override
		public HttpCodeStatusMapper getHttpCodeStatusMapper() {
			return this.group.getHttpCodeStatusMapper();
		}

		@Override
		public AdditionalHealthEndpointPath getAdditionalPath() {
			return this.group.getAdditionalPath();
		}

	}

}
