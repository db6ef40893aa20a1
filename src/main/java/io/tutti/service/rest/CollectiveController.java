package io.tutti.service.rest;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

import io.tutti.engine.Deadline;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.service.config.CollectivesProperties;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lets any process beside a rank reduce, gather and scatter with those beside the others:
 * bytes in, bytes out, little endian.
 */
@RestController
@RequestMapping(path = Api.V1 + "/collectives", version = Api.VERSION)
final class CollectiveController {

	private final HttpCollectives collectives;

	private final CollectivesProperties properties;

	private final RankAssignment assignment;

	private final Timeouts timeouts;

	CollectiveController(HttpCollectives collectives, CollectivesProperties properties, RankAssignment assignment,
			Timeouts timeouts) {
		this.collectives = collectives;
		this.properties = properties;
		this.assignment = assignment;
		this.timeouts = timeouts;
	}

	@PostMapping(path = "/{collective}", consumes = MediaType.APPLICATION_OCTET_STREAM_VALUE,
			produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
	void call(@PathVariable String collective, HttpServletRequest request, HttpServletResponse response)
			throws IOException {
		if (!this.properties.enabled()) {
			throw new SwitchedOffException("collectives over HTTP are switched off (tutti.collectives.enabled=false)");
		}
		CallParameters parameters = CallParameters.of(collective, request);
		AnnouncedCall call = parameters.call(this.assignment);
		Duration timeout = parameters.checkedTimeout(this.timeouts.collective());
		String label = parameters.checkedLabel();
		try (TransferMemory memory = new TransferMemory(this.properties.maxBytes().toBytes())) {
			MemorySegment body = memory.read(request.getInputStream(), request.getContentLengthLong(),
					Deadline.after(timeout));
			MemorySegment answer = this.collectives.run(call, label, timeout, body, memory);
			response.setContentType(MediaType.APPLICATION_OCTET_STREAM_VALUE);
			response.setContentLengthLong(answer.byteSize());
			TransferMemory.write(answer, response.getOutputStream());
		}
	}

}
