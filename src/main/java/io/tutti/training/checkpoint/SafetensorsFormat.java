package io.tutti.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * The header of a safetensors file: its length (unsigned 64-bit, little-endian), then
 * JSON padded with spaces. The data of the tensors follows without gaps.
 *
 * @see <a href="https://huggingface.co/docs/safetensors">safetensors</a>
 */
final class SafetensorsFormat {

	/** Limit of the format on the length of the JSON text. */
	static final long MAX_HEADER_BYTES = 100_000_000;

	/** Alignment of the data in the file. */
	static final int ALIGNMENT = 8;

	/** Strict: each coercion or duplicate key could hide a damaged or forged header. */
	static final JsonMapper MAPPER = JsonMapper
		.builder(JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build())
		.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
		.enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
		.enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
		.enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
		.enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
		.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
		.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
		.withCoercionConfig(LogicalType.Textual,
				(textual) -> textual.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
					.setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
					.setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
		.build();

	private SafetensorsFormat() {
	}

	/** The JSON text: metadata and, by name, the tensors. */
	static final class Header {

		@JsonProperty("__metadata__")
		@JsonInclude(JsonInclude.Include.NON_EMPTY)
		Map<String, String> metadata = new LinkedHashMap<>();

		private final Map<String, Entry> tensors = new LinkedHashMap<>();

		@JsonAnyGetter
		Map<String, Entry> tensors() {
			return this.tensors;
		}

		@JsonAnySetter
		void add(String name, Entry entry) {
			this.tensors.put(name, entry);
		}

	}

	/**
	 * A tensor in the header.
	 *
	 * @param dtype name of the element type
	 * @param shape sizes of the dimensions
	 * @param offsets begin and end of the data, relative to the end of the header
	 */
	record Entry(@JsonProperty(value = "dtype", required = true) String dtype,
			@JsonProperty(value = "shape", required = true) List<Long> shape,
			@JsonProperty(value = "data_offsets", required = true) List<Long> offsets) {
	}

}
