package io.tutti.training.checkpoint;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * The file {@code checkpoint.json} of a checkpoint.
 *
 * @param version version of the layout
 * @param job names and values of the job's fingerprint
 * @param progress progress of the job
 * @param optimizer type of the optimizer, such as {@code SGD}
 * @param model names of the files with the model's tensors
 * @param optimizerState names of the files with the optimizer's tensors
 */
record CheckpointManifest(@JsonProperty(required = true) int version,
		@JsonProperty(required = true) Map<String, String> job, @JsonProperty(required = true) Progress progress,
		@JsonProperty(required = true) String optimizer, @JsonProperty(required = true) List<String> model,
		@JsonProperty(required = true) List<String> optimizerState) {

	/** Version of the layout. */
	static final int VERSION = 2;

	CheckpointManifest {
		if (version != VERSION) {
			throw new IllegalArgumentException("its version is " + version + ", this build reads version " + VERSION);
		}
		job = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(job));
		model = List.copyOf(model);
		optimizerState = List.copyOf(optimizerState);
	}

}
