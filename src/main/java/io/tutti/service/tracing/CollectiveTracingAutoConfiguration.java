package io.tutti.service.tracing;

import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import io.tutti.service.config.ConditionalOnSwitch;
import io.tutti.service.group.GroupLifecycle;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Import;

/**
 * A span for each collective, if the application exports spans.
 */
@AutoConfiguration(after = ProcessGroupAutoConfiguration.class,
		afterName = { CollectiveTracingAutoConfiguration.BOOT + "otlp.OtlpTracingAutoConfiguration",
				CollectiveTracingAutoConfiguration.BOOT + "zipkin.ZipkinWithOpenTelemetryTracingAutoConfiguration" })
@ConditionalOnClass({ SdkTracerProvider.class, SpanExporter.class })
@ConditionalOnBean({ GroupLifecycle.class, SpanExporter.class })
@ConditionalOnSwitch("tutti.tracing.enabled")
@Import(CollectiveTracing.class)
public class CollectiveTracingAutoConfiguration {

	/** The package of Boot's exporters, which an application need not have. */
	static final String BOOT = "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.";

}
