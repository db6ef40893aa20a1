package io.tutti.service.rest;

import java.util.List;
import java.util.Map;

import io.swagger.v3.oas.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The members of a problem, for the OpenAPI description. The rank responds with Spring's
 * {@code ProblemDetail}.
 */
@Schema(name = ProblemView.NAME, description = "A problem (RFC 9457), with the rank that reports it")
record ProblemView(@Schema(description = "The problem type") String type,
		@Schema(description = "The problem type in words") String title,
		@Schema(description = "HTTP status") int status, @Schema(description = "What happened") String detail,
		@Schema(description = "Path of the request") @Nullable String instance,
		@Schema(description = "Action to take") String hint,
		@Schema(description = "The rank that reports the problem") int rank,
		@Schema(description = "Ranks in the group") int worldSize,
		@Schema(description = "Number of times the group has formed before, once it has formed") @Nullable Long generation,
		@Schema(description = "State of the group, if it is not ready") @Nullable String state,
		@Schema(description = "The group that broke") @Nullable String group,
		@Schema(description = "Sequence number of the call in which the group broke") @Nullable Long sequence,
		@Schema(description = "The collective that was called") @Nullable String collective,
		@Schema(description = "Label of the barrier or call") @Nullable String label,
		@Schema(description = "Round of the label, from 0") @Nullable Long round,
		@Schema(description = "Number of ranks that had arrived") @Nullable Integer arrived,
		@Schema(description = "Ranks that are missing") @Nullable List<Integer> missingRanks,
		@Schema(description = "The call of each rank") @Nullable Map<String, String> calls,
		@Schema(description = "Elapsed time in milliseconds") @Nullable Long elapsedMs,
		@Schema(description = "Timeout in milliseconds") @Nullable Long timeoutMs) {

	static final String NAME = "Problem";

}
