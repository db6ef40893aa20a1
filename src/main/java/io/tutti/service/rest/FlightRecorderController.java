package io.tutti.service.rest;

import java.time.Duration;
import java.util.Map;

import io.tutti.engine.FlightRecorder;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.RankAccount;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.JoinedGroup;
import io.tutti.service.recorder.AnalysisView;
import io.tutti.service.recorder.ChromeTrace;
import io.tutti.service.recorder.FlightRecorderView;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the last collectives of this rank, as JSON or, with those of all others, as a
 * timeline, and what they say together. Works while collectives hang, and after the group
 * broke.
 */
@RestController
@RequestMapping(path = Api.V1 + "/flight-recorder", version = Api.VERSION)
final class FlightRecorderController {

	private static final int MAX_TIMEOUT_MILLIS = 30_000;

	/** Calls of each group that say how it stands. */
	private static final int TELLING = 100;

	private static final String DEFAULT_TIMEOUT_MILLIS = "2000";

	private final GroupLifecycle group;

	FlightRecorderController(GroupLifecycle group) {
		this.group = group;
	}

	@GetMapping
	FlightRecorderView own(@RequestParam(defaultValue = "" + FlightRecorder.CAPACITY) int limit) {
		requireRange("limit", limit, FlightRecorder.CAPACITY);
		JoinedGroup joined = joined();
		RankAccount account = RankAccount.take(this.group.assignment().rank(), joined.world().generation(),
				joined.groups(), limit);
		return FlightRecorderView.of(account, this.group.assignment().worldSize(), this.group.status().problem());
	}

	@GetMapping(params = "format=chrome-trace")
	ChromeTrace timeline(@RequestParam(defaultValue = "" + FlightRecorder.CAPACITY) int limit,
			@RequestParam(defaultValue = DEFAULT_TIMEOUT_MILLIS) int timeoutMs) {
		requireRange("limit", limit, FlightRecorder.CAPACITY);
		return ChromeTrace.of(accounts(limit, timeoutMs).values());
	}

	@GetMapping("/analysis")
	AnalysisView analysis(@RequestParam(defaultValue = DEFAULT_TIMEOUT_MILLIS) int timeoutMs) {
		Map<Integer, RankAccount> accounts = accounts(TELLING, timeoutMs);
		Analysis analysis = Analysis.of(this.group.assignment().worldSize(), accounts);
		return AnalysisView.of(analysis, accounts.values(), this.group.status().problem());
	}

	private Map<Integer, RankAccount> accounts(int limit, int timeoutMs) {
		requireRange("timeoutMs", timeoutMs, MAX_TIMEOUT_MILLIS);
		return joined().accounts(limit, Duration.ofMillis(timeoutMs));
	}

	private JoinedGroup joined() {
		JoinedGroup joined = this.group.joined();
		if (joined == null) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
		return joined;
	}

	private static void requireRange(String name, int value, int most) {
		if (value < 1 || value > most) {
			throw new InvalidArgumentException(name + " must be in 1.." + most + ", got " + value);
		}
	}

}
