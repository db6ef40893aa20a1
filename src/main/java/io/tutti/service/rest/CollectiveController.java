package io.tutti.service.rest;

import java.io.IOException;

import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.parameters.RequestBody;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.RoundWait;
import io.tutti.service.config.HttpCollectivesProperties;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.http.BodyLength;
import io.tutti.service.http.ClientConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;

/**
 * Collectives over HTTP: a process beside a rank calls a collective with the processes
 * beside the other ranks. Request and response bodies are little-endian bytes.
 */
@ApiController
@Tag(name = "collectives")
final class CollectiveController {

	private final HttpCollectives collectives;

	private final HttpCollectivesProperties properties;

	private final GroupLifecycle group;

	private final Timeouts timeouts;

	CollectiveController(HttpCollectives collectives, HttpCollectivesProperties properties, GroupLifecycle group,
			Timeouts timeouts) {
		this.collectives = collectives;
		this.properties = properties;
		this.group = group;
		this.timeouts = timeouts;
	}

	@Operation(operationId = "collective", summary = "Calls a collective together with clients of the other ranks",
			description = "Request and response are little endian. Ranks without input, such as all but the root of a broadcast or scatter, send an empty body. The response of rank 0 to an exclusive scan is empty. Calls are first matched over the control plane: a rejected call has no effect. A call whose client closes the connection before every rank has arrived is withdrawn.",
			parameters = {
					@Parameter(name = "collective", in = ParameterIn.PATH, description = "The collective",
							schema = @Schema(type = "string", example = "all-reduce",
									allowableValues = { "all-reduce", "broadcast", "reduce", "all-gather",
											"reduce-scatter", "gather", "scatter", "all-to-all", "scan",
											"exclusive-scan", "barrier" })),
					@Parameter(name = "dtype", in = ParameterIn.QUERY, description = "Element type",
							schema = @Schema(type = "string", defaultValue = "float32",
									allowableValues = { "float32", "float64", "float16", "bfloat16", "int8", "uint8",
											"int32", "int64" })),
					@Parameter(name = "op", in = ParameterIn.QUERY,
							description = "Operator, if the collective reduces; default: sum",
							schema = @Schema(type = "string",
									allowableValues = { "sum", "product", "min", "max", "average", "bitwise-and",
											"bitwise-or", "bitwise-xor", "logical-and", "logical-or", "logical-xor" })),
					@Parameter(name = "root", in = ParameterIn.QUERY,
							description = "Root rank, if the collective has one; default: 0",
							schema = @Schema(type = "integer", format = "int32", minimum = "0")),
					@Parameter(name = "label", in = ParameterIn.QUERY,
							description = "Label; calls are counted per label",
							schema = @Schema(type = "string", minLength = 1, maxLength = 256,
									defaultValue = "default")),
					@Parameter(name = "round", in = ParameterIn.QUERY,
							description = "Round of the label, the same on every rank. Repeating the last round with the same parameters and body gets the same response; an older round, or the same one with different parameters, gets 409. Without it, a rank's k-th call of the label joins the k-th round",
							schema = @Schema(type = "integer", format = "int64", minimum = "0",
									maximum = "9007199254740991")),
					@Parameter(name = "timeoutMs", in = ParameterIn.QUERY,
							description = "Timeout for the arrival of the other ranks in milliseconds; default: the collective timeout",
							schema = @Schema(type = "integer", format = "int64", minimum = "1",
									maximum = "86400000")) },
			requestBody = @RequestBody(description = "This rank's elements",
					content = @Content(mediaType = MediaType.APPLICATION_OCTET_STREAM_VALUE,
							schema = @Schema(type = "string", format = "binary"))))
	@ApiResponse(responseCode = "200", description = "This rank's part of the result",
			content = @Content(mediaType = MediaType.APPLICATION_OCTET_STREAM_VALUE,
					schema = @Schema(type = "string", format = "binary")))
	@ApiResponse(responseCode = "408", description = "The body did not arrive in time")
	@ApiResponse(responseCode = "409",
			description = "Ranks called different collectives, listed in calls; or the call had timed out before this rank arrived; or the named round is over or was called with different parameters")
	@ApiResponse(responseCode = "501", description = "Collectives over HTTP are disabled")
	@ApiResponse(responseCode = "503",
			description = "The group is not ready; or memory for the call was not available: send it again after Retry-After")
	@ApiResponse(responseCode = "504", description = "A deadline passed; missingRanks did not arrive")
	@PostMapping(path = "/collectives/{collective}", consumes = MediaType.APPLICATION_OCTET_STREAM_VALUE,
			produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	void call(@Parameter(hidden = true) @PathVariable String collective, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		if (!this.properties.enabled()) {
			throw ProblemException
				.unsupported("collectives over HTTP are disabled (tutti.http-collectives.enabled=false)");
		}
		CallParameters parameters = CallParameters.of(collective, request);
		LabelledCall call = parameters.call(this.group.requireJoined().world());
		RoundWait wait = parameters.wait(this.timeouts.collective(), request);
		Answer answer = this.collectives.run(call, wait, request.getInputStream(), BodyLength.of(request));
		try (ResponseDeadline _ = new ResponseDeadline(ClientConnection.of(request), this.timeouts.collective())) {
			response.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
			response.setContentLengthLong(answer.memory().byteSize());
			answer.write(response.getOutputStream());
		}
		finally {
			answer.release();
		}
	}

}
