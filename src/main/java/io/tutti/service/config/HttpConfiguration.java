package io.tutti.service.config;

import java.util.ArrayList;
import java.util.List;

import io.tutti.engine.RankAssignment;
import org.springframework.boot.jackson.autoconfigure.JsonFactoryBuilderCustomizer;
import org.springframework.boot.jackson.autoconfigure.JsonMapperBuilderCustomizer;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.type.LogicalType;

/**
 * HTTP address, allowed hosts and strict JSON parsing.
 */
@Configuration(proxyBeanMethods = false)
class HttpConfiguration {

	private static final int MAX_JSON_BYTES = 64 * 1024;

	private static final int MAX_NESTING = 32;

	@Bean
	HttpBinding httpBinding(HttpProperties properties, RankAssignment assignment, Environment environment,
			ExposureCheck exposure) {
		return new HttpBinding(properties, assignment.localRank(), environment, exposure);
	}

	@Bean
	AllowedHosts allowedHosts(HttpProperties properties, TransportProperties transport) {
		List<String> hosts = new ArrayList<>(properties.allowedHosts());
		if (StringUtils.hasText(transport.advertisedHost())) {
			hosts.add(transport.advertisedHost());
		}
		return new AllowedHosts(hosts);
	}

	@Bean
	HttpAnnouncement httpAnnouncement(HttpBinding binding, ServerProperties server) {
		return new HttpAnnouncement(binding, Ssl.isEnabled(server.getSsl()));
	}

	/**
	 * Limits the size of JSON documents: no endpoint needs longer ones. Turns charset
	 * detection off, since JSON between programs is UTF-8.
	 */
	@Bean
	JsonFactoryBuilderCustomizer smallDocuments() {
		return (builder) -> builder.disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
			.streamReadConstraints(StreamReadConstraints.builder()
				.maxDocumentLength(MAX_JSON_BYTES)
				.maxNestingDepth(MAX_NESTING)
				.build());
	}

	/**
	 * Rejects ambiguous JSON: unknown fields, duplicate fields, text for a number or a
	 * number for text, 1.5 for an integer.
	 */
	@Bean
	JsonMapperBuilderCustomizer strictReading() {
		return (builder) -> builder.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
			.withCoercionConfig(LogicalType.Textual,
					(text) -> text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
						.setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
						.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail));
	}

}
