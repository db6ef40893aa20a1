package io.tutti.service.recorder;

import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.FlightRecorderProperties;
import io.tutti.service.config.RendezvousProperties;
import io.tutti.service.group.GroupLifecycle;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * Writes the flight recorder to a file when the group breaks. Its switch is
 * {@code tutti.flight-recorder.on-failure}.
 */
@AutoConfiguration(after = { ProcessGroupAutoConfiguration.class, JacksonAutoConfiguration.class })
@ConditionalOnClass(JsonMapper.class)
@ConditionalOnBean({ GroupLifecycle.class, JsonMapper.class })
public class FailureFileAutoConfiguration {

	@Bean("tuttiFailureFile")
	FailureFile failureFile(GroupLifecycle group, FlightRecorderProperties properties, RendezvousProperties rendezvous,
			JsonMapper json) {
		return new FailureFile(group, properties, rendezvous, json);
	}

}
