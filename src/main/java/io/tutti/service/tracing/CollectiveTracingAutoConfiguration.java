package io.tutti.service.tracing;

import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Import;

/**
 * A span for each collective, if the application exports spans.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class)
@ConditionalOnClass({ SdkTracerProvider.class, SpanExporter.class })
@ConditionalOnBean(GroupLifecycle.class)
@ConditionalOnBooleanProperty(name = "tutti.tracing.enabled", matchIfMissing = true)
@Import(CollectiveTracing.class)
public class CollectiveTracingAutoConfiguration {

}
