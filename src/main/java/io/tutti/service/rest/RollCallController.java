package io.tutti.service.rest;

import java.time.Duration;
import java.util.Map;

import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.ExampleObject;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;

/**
 * Probes every rank over the control plane, even while the data plane hangs. Works for a
 * broken group too, as long as rank 0 is reachable.
 */
@ApiController
@Tag(name = "diagnosis")
final class RollCallController {

	private static final RollCallRequest USUAL = new RollCallRequest(null);

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	RollCallController(GroupLifecycle group, BoundedWaits waits) {
		this.group = group;
		this.waits = waits;
	}

	@Operation(operationId = "rollCall", summary = "Queries every rank",
			description = "Uses the control plane: it works while collectives hang, and after the group broke if rank 0 is connected. The body is optional.",
			requestBody = @io.swagger.v3.oas.annotations.parameters.RequestBody(required = false,
					content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
							schema = @Schema(implementation = RollCallRequest.class),
							examples = @ExampleObject(Examples.ROLL_CALL))))
	@ApiResponse(responseCode = "200", description = "Ranks that answered and ranks that did not",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = RollCallView.class),
					examples = @ExampleObject(Examples.ROLL_CALL_ANSWERED)))
	@PostMapping(path = "/roll-call", consumes = MediaType.APPLICATION_JSON_VALUE)
	RollCallView rollCall(@RequestBody(required = false) @Nullable RollCallRequest request) {
		Duration timeout = ((request != null) ? request : USUAL).checkedTimeout();
		JoinedGroup joined = this.group.requireJoined();
		long start = System.nanoTime();
		Map<Integer, Duration> answers = this.waits.await(() -> joined.control().rollCall(timeout));
		return RollCallView.of(joined.world(), this.group.status().problem(), answers,
				Duration.ofNanos(System.nanoTime() - start));
	}

}
