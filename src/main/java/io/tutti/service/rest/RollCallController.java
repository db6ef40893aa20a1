package io.tutti.service.rest;

import java.time.Duration;
import java.util.Map;

import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.JoinedGroup;
import org.jspecify.annotations.Nullable;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Asks every rank for a sign of life, while the data plane may be stuck. A broken group
 * can be asked too, as far as rank 0 is there.
 */
@RestController
@RequestMapping(path = Api.V1 + "/roll-call", version = Api.VERSION)
final class RollCallController {

	private static final RollCallRequest USUAL = new RollCallRequest(null);

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	RollCallController(GroupLifecycle group, BoundedWaits waits) {
		this.group = group;
		this.waits = waits;
	}

	@PostMapping(consumes = MediaType.APPLICATION_JSON_VALUE)
	RollCallView rollCall(@RequestBody(required = false) @Nullable RollCallRequest request) {
		Duration timeout = ((request != null) ? request : USUAL).checkedTimeout();
		JoinedGroup joined = this.group.joined();
		if (joined == null) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
		long start = System.nanoTime();
		Map<Integer, Duration> answers = this.waits.await(() -> joined.control().rollCall(timeout));
		return RollCallView.of(this.group.assignment(), answers, Duration.ofNanos(System.nanoTime() - start));
	}

}
