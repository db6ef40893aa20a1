package io.tutti.service.rest;

import java.util.List;

import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.ExampleObject;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.BarrierOutcome;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;

/**
 * Barriers over HTTP for processes beside the ranks.
 */
@ApiController
@Tag(name = "barrier")
final class BarrierController {

	private final LabelledBarriers barriers;

	private final Timeouts timeouts;

	BarrierController(LabelledBarriers barriers, Timeouts timeouts) {
		this.barriers = barriers;
		this.timeouts = timeouts;
	}

	@Operation(operationId = "barrier", summary = "Enters a labelled barrier",
			description = "A rank's k-th call of a label joins its k-th barrier. The first deadline that passes breaks the barrier for all ranks that have arrived; a rank that arrives later gets 409, and its next call joins the next barrier. A call whose client closes the connection before every rank has arrived is withdrawn. Uses the control plane, so that it cannot interfere with training.",
			requestBody = @io.swagger.v3.oas.annotations.parameters.RequestBody(required = true,
					content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
							schema = @Schema(implementation = BarrierRequest.class),
							examples = @ExampleObject(Examples.BARRIER))))
	@ApiResponse(responseCode = "200", description = "Every rank arrived",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = BarrierView.class),
					examples = @ExampleObject(Examples.BARRIER_PASSED)))
	@ApiResponse(responseCode = "409",
			description = "A deadline broke the barrier before this rank arrived; or the named round is over")
	@ApiResponse(responseCode = "504", description = "A deadline passed; missingRanks did not arrive")
	@PostMapping(path = "/barrier", consumes = MediaType.APPLICATION_JSON_VALUE)
	BarrierView barrier(@RequestBody BarrierRequest body, @Parameter(hidden = true) HttpServletRequest request) {
		return BarrierView.of(this.barriers.pass(body.wait(this.timeouts.collective(), request)));
	}

	/**
	 * A labelled barrier that every rank reached.
	 *
	 * @param label the label
	 * @param round which barrier of that label, from 0
	 * @param arrived how many ranks arrived
	 * @param waitedMs how long this rank waited
	 * @param skewMs by rank, how long after the first rank each arrived
	 */
	record BarrierView(String label, long round, int arrived, long waitedMs, List<Long> skewMs) {

		static BarrierView of(BarrierOutcome outcome) {
			return new BarrierView(outcome.label(), outcome.round(), outcome.arrived(), outcome.waitedMillis(),
					outcome.skewMillis());
		}

	}

}
