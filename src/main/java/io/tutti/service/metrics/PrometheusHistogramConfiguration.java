package io.tutti.service.metrics;

import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.micrometer.metrics.autoconfigure.MeterRegistryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.PropertySource;

/**
 * Replaces the timer of collective durations by a histogram where meters are exported to
 * Prometheus. Other registries keep the timer. An application's own properties take
 * precedence over those of the file.
 */
@Configuration(proxyBeanMethods = false)
@PropertySource("classpath:/io/tutti/service/metrics/prometheus.properties")
@ConditionalOnClass({ PrometheusMeterRegistry.class, MeterRegistryCustomizer.class })
final class PrometheusHistogramConfiguration {

	@Bean("tuttiCollectiveDurations")
	MeterRegistryCustomizer<PrometheusMeterRegistry> collectiveDurations(GroupLifecycle group,
			EngineSettings settings) {
		return (registry) -> {
			registry.config().meterFilter(MeterFilter.deny((id) -> id.getName().equals(CollectiveDurations.METER)));
			registry.getPrometheusRegistry().register(new CollectiveDurations(group, settings));
		};
	}

}
