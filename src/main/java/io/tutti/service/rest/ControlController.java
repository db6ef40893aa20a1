package io.tutti.service.rest;

import java.util.List;

import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.ExampleObject;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.CollectiveException;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;

/**
 * Ends the group on every rank: immediately by an abort, or at the next agreed step by a
 * drain.
 */
@ApiController
@Tag(name = "control")
final class ControlController {

	private final GroupLifecycle group;

	ControlController(GroupLifecycle group) {
		this.group = group;
	}

	/**
	 * Responds before the abort takes effect: on the MPI backend, an abort ends this
	 * process.
	 */
	@Operation(operationId = "abort", summary = "Aborts the group on every rank",
			description = "Every rank exits with 80 and reports the reason.",
			requestBody = @io.swagger.v3.oas.annotations.parameters.RequestBody(required = true,
					content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
							schema = @Schema(implementation = ControlRequest.class),
							examples = @ExampleObject(Examples.ABORT))))
	@ApiResponse(responseCode = "202", description = "The request was sent to every rank",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = ControlView.class), examples = @ExampleObject(Examples.ABORTING)))
	@PostMapping(path = "/control/abort", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.ACCEPTED)
	ControlView abort(@RequestBody ControlRequest request) {
		String reason = request.checkedReason();
		JoinedGroup joined = requireEveryRankReachable();
		Thread.ofVirtual()
			.name("tutti-r" + this.group.assignment().rank() + "-abort")
			.start(() -> joined.abort(ExitCode.ABORTED, reason));
		return new ControlView("abort", reason);
	}

	@Operation(operationId = "drain", summary = "Stops every rank at the same step boundary",
			description = "A training job writes a checkpoint and exits with 79; a serving rank exits with 0.",
			requestBody = @io.swagger.v3.oas.annotations.parameters.RequestBody(required = true,
					content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
							schema = @Schema(implementation = ControlRequest.class),
							examples = @ExampleObject(Examples.DRAIN))))
	@ApiResponse(responseCode = "202", description = "The request was sent to every rank",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = ControlView.class), examples = @ExampleObject(Examples.DRAINING)))
	@PostMapping(path = "/control/drain", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.ACCEPTED)
	ControlView drain(@RequestBody ControlRequest request) {
		String reason = request.checkedReason();
		requireEveryRankReachable().control()
			.requestDrain("rank " + this.group.assignment().rank() + " received the request: " + reason);
		return new ControlView("drain", reason);
	}

	/** Rank 0 sends the requests of the others to every rank. */
	private JoinedGroup requireEveryRankReachable() {
		JoinedGroup joined = this.group.ready();
		PeerStatus zero = (joined.world().rank() != 0) ? joined.control().peer(0) : null;
		if (zero != null && zero.state() != PeerStatus.State.UP) {
			Failure left = DepartedRanks.peerLost(List.of(0));
			CollectiveException failure = CollectiveException.of(joined.world().rank(), joined.world().worldSize(),
					left.withDetail(left.detail() + " and cannot send the request to every rank"), null);
			throw new GroupUnavailableException(this.group.statusOf(joined, failure), failure);
		}
		return joined;
	}

	/**
	 * An accepted request to the whole group.
	 *
	 * @param action the requested action, {@code abort} or {@code drain}
	 * @param reason reason for it, which every rank reports
	 */
	record ControlView(String action, String reason) {
	}

}
