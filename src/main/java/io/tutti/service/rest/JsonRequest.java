package io.tutti.service.rest;

import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * A body of the REST interface. Bodies are small and read strictly, whatever the
 * application's own reading of JSON: a value that does not fit a field is not converted,
 * and an unknown or repeated field is an error.
 */
sealed interface JsonRequest permits BarrierRequest, ControlRequest, RollCallRequest {

	/** Largest document in bytes; the largest valid one has about a thousand. */
	int MAX_BYTES = 64 * 1024;

	/** Deepest nesting; the requests are flat. */
	int MAX_NESTING = 32;

	/** The mapper that reads these bodies. */
	static JsonMapper mapper() {
		JsonFactory factory = JsonFactory.builder()
			.disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
			.streamReadConstraints(StreamReadConstraints.builder()
				.maxDocumentLength(MAX_BYTES)
				.maxNumberLength(MAX_BYTES)
				.maxNameLength(MAX_BYTES)
				.maxNestingDepth(MAX_NESTING)
				.build())
			.build();
		return JsonMapper.builder(factory)
			.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
			.enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
			.withCoercionConfig(LogicalType.Textual,
					(text) -> text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
						.setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
						.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
			.build();
	}

}
