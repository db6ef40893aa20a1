package io.tutti.service.rest;

import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.JoinedGroup;

import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Ends the group on every rank: at once, or in order at the next step.
 */
@RestController
@RequestMapping(path = Api.V1 + "/control", version = Api.VERSION)
final class ControlController {

	private final GroupLifecycle group;

	ControlController(GroupLifecycle group) {
		this.group = group;
	}

	/**
	 * Where an MPI library carries the group, aborting ends the process: answer first.
	 */
	@PostMapping(path = "/abort", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.ACCEPTED)
	ControlView abort(@RequestBody ControlRequest request) {
		String reason = request.checkedReason();
		JoinedGroup joined = this.group.ready();
		Thread.ofVirtual()
			.name("tutti-r" + this.group.assignment().rank() + "-abort")
			.start(() -> joined.abort(reason));
		return new ControlView("abort", reason);
	}

	@PostMapping(path = "/drain", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.ACCEPTED)
	ControlView drain(@RequestBody ControlRequest request) {
		String reason = request.checkedReason();
		this.group.ready().control().requestDrain("rank " + this.group.assignment().rank() + " was told: " + reason);
		return new ControlView("drain", reason);
	}

}
