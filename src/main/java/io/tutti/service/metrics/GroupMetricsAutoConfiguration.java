package io.tutti.service.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.ArrivalWatch;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Import;

/**
 * The meters {@code tutti.*}.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnSwitch("tutti.metrics.enabled")
@Import({ ArrivalWatch.class, CollectiveMetrics.class, FailureCounts.class, GroupMetrics.class,
		PrometheusHistogramConfiguration.class, TrainingMetrics.class })
public class GroupMetricsAutoConfiguration {

}
