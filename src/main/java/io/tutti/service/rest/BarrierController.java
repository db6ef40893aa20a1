package io.tutti.service.rest;

import io.tutti.engine.Timeouts;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lets any process beside a rank meet those beside the others.
 */
@RestController
@RequestMapping(path = Api.V1 + "/barrier", version = Api.VERSION)
final class BarrierController {

	private final LabelledBarriers barriers;

	private final Timeouts timeouts;

	BarrierController(LabelledBarriers barriers, Timeouts timeouts) {
		this.barriers = barriers;
		this.timeouts = timeouts;
	}

	@PostMapping(consumes = MediaType.APPLICATION_JSON_VALUE)
	BarrierView barrier(@RequestBody BarrierRequest request) {
		return BarrierView
			.of(this.barriers.pass(request.checkedLabel(), request.checkedTimeout(this.timeouts.collective())));
	}

}
