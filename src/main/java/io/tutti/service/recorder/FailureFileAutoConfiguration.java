package io.tutti.service.recorder;

import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.FlightRecorderProperties;
import io.tutti.service.config.RendezvousProperties;
import io.tutti.service.group.GroupLifecycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Writes the flight recorder to a file when the group breaks. The switch is
 * {@code tutti.flight-recorder.on-failure}. No other bean uses these, so that they are
 * also created where an application creates its beans when they are used.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnBean(GroupLifecycle.class)
public class FailureFileAutoConfiguration {

	/** Writes files as JSON. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(JsonMapper.class)
	static class WithJson {

		@Lazy(false)
		@Bean("tuttiFailureFile")
		FailureFile failureFile(GroupLifecycle group, FlightRecorderProperties properties,
				RendezvousProperties rendezvous) {
			return new FailureFile(group, properties, rendezvous);
		}

	}

	/** Warns that no files are written. A rank without peers would write none anyway. */
	@Lazy(false)
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingClass("tools.jackson.databind.json.JsonMapper")
	static class WithoutJson {

		private static final Logger log = LoggerFactory.getLogger(FailureFileAutoConfiguration.class);

		WithoutJson(GroupLifecycle group, FlightRecorderProperties properties) {
			if (properties.onFailure() && group.assignment().worldSize() > 1) {
				log.warn(
						"tutti.flight-recorder.on-failure has no effect: Jackson, which writes the files, is not on the"
								+ " class path."
								+ " Add spring-boot-starter-jackson, or set tutti.flight-recorder.on-failure=false");
			}
		}

	}

}
