package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.swagger.v3.oas.annotations.Hidden;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.Parameter;
import io.swagger.v3.oas.annotations.enums.ParameterIn;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.ExampleObject;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.FlightRecorder;
import io.tutti.service.group.BrokenGeneration;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.recorder.AnalysisView;
import io.tutti.service.recorder.ChromeTrace;
import io.tutti.service.recorder.FlightRecorderView;
import org.jspecify.annotations.Nullable;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Serves the last collectives of this rank as JSON, those of all ranks as a timeline, and
 * an analysis of all ranks. Works while collectives hang, and after the group broke.
 */
@ApiController
@Tag(name = "diagnosis")
final class FlightRecorderController {

	private static final int MAX_TIMEOUT_MILLIS = 30_000;

	/** Calls of each group that the analysis reads. */
	private static final int CALLS = 100;

	private static final int DEFAULT_TIMEOUT_MILLIS = 2000;

	private final GroupLifecycle group;

	FlightRecorderController(GroupLifecycle group) {
		this.group = group;
	}

	@Operation(operationId = "flightRecorder", summary = "Returns the latest collectives of this rank",
			description = "With format=chrome-trace: those of all ranks, for a timeline viewer. Available while collectives hang and after the group has broken.",
			parameters = {
					@Parameter(name = "format", in = ParameterIn.QUERY,
							description = "chrome-trace for a timeline of all ranks; without it, this rank's own calls",
							schema = @Schema(type = "string", allowableValues = "chrome-trace")),
					@Parameter(name = "timeoutMs", in = ParameterIn.QUERY,
							description = "With format=chrome-trace: timeout of the other ranks' answers in milliseconds; default: "
									+ DEFAULT_TIMEOUT_MILLIS,
							schema = @Schema(type = "integer", format = "int32", minimum = "1",
									maximum = "" + MAX_TIMEOUT_MILLIS)) })
	@ApiResponse(responseCode = "200", description = "The latest calls, the oldest first",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(oneOf = { FlightRecorderView.class, ChromeTrace.class }),
					examples = @ExampleObject(Examples.FLIGHT_RECORDER)))
	@GetMapping("/flight-recorder")
	FlightRecorderView own(@Parameter(description = "Maximum number of the latest calls of each group",
			schema = @Schema(type = "integer", format = "int32", minimum = "1", maximum = "" + FlightRecorder.CAPACITY,
					defaultValue = "" + FlightRecorder.CAPACITY)) @RequestParam(
							required = false) @Nullable String limit,
			@Parameter(
					description = "Without format: a generation of an elastic group; one of the last that broke, or the current one. Default: the current one; while the next one forms, the last that broke. One that ends without a failure, as when a rank joins, is not kept",
					schema = @Schema(type = "integer", format = "int64", minimum = "0")) @RequestParam(
							required = false) @Nullable String generation,
			@Parameter(hidden = true) @RequestParam(required = false) @Nullable String format) {
		if (format != null) {
			throw ProblemException.invalidArgument("format must be chrome-trace or omitted, got " + format);
		}
		return own(limit(limit), (generation == null) ? null
				: Arguments.inRange("generation", Arguments.wholeNumber("generation", generation), 0, Long.MAX_VALUE));
	}

	private FlightRecorderView own(int limit, @Nullable Long generation) {
		JoinedGroup joined = this.group.joined();
		if (joined != null && (generation == null || generation == joined.world().generation())) {
			ProcessGroup world = joined.world();
			RankTrace account = RankTrace.take(world.rank(), world.generation(), joined.groups(), limit);
			return FlightRecorderView.of(account, world.worldSize(), this.group.status().problem());
		}
		return kept(generation, limit);
	}

	/** A generation that has broken, of which the trace was kept. */
	private FlightRecorderView kept(@Nullable Long generation, int limit) {
		List<BrokenGeneration> broken = this.group.brokenGenerations();
		if (generation == null && broken.isEmpty()) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
		for (BrokenGeneration each : broken.reversed()) {
			RankTrace trace = each.trace();
			if (trace != null && (generation == null || trace.generation() == generation)) {
				return FlightRecorderView.of(trace.latest(limit), each.assignment().worldSize(),
						each.failure().describe());
			}
		}
		throw ProblemException.invalidArgument(
				"the calls of generation " + generation + " are not kept; those of these broken generations are: "
						+ broken.stream()
							.map(BrokenGeneration::trace)
							.filter(Objects::nonNull)
							.map(RankTrace::generation)
							.toList());
	}

	/** Described with the other format of the same path. */
	@Hidden
	@GetMapping(path = "/flight-recorder", params = "format=chrome-trace")
	ChromeTrace timeline(@RequestParam(required = false) @Nullable String limit,
			@RequestParam(required = false) @Nullable String timeoutMs) {
		return ChromeTrace.of(accounts(this.group.requireJoined(), limit(limit), timeoutMs).values());
	}

	@Operation(operationId = "analysis", summary = "Analyses the calls of all ranks",
			description = "Names the ranks that are missing from a collective, the ranks whose calls differ, and the mean delay of the last rank. Uses the control plane, so that it works while collectives hang.")
	@ApiResponse(responseCode = "200", description = "The verdict",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = AnalysisView.class),
					examples = @ExampleObject(Examples.ANALYSIS)))
	@GetMapping("/flight-recorder/analysis")
	AnalysisView analysis(@Parameter(description = "Timeout of the other ranks' answers in milliseconds",
			schema = @Schema(type = "integer", format = "int32", minimum = "1", maximum = "" + MAX_TIMEOUT_MILLIS,
					defaultValue = "" + DEFAULT_TIMEOUT_MILLIS)) @RequestParam(
							required = false) @Nullable String timeoutMs) {
		JoinedGroup joined = this.group.requireJoined();
		Map<Integer, RankTrace> accounts = accounts(joined, CALLS, timeoutMs);
		Analysis analysis = Analysis.of(joined.world().worldSize(), accounts);
		return AnalysisView.of(analysis, accounts.values(), this.group.status().problem());
	}

	private static int limit(@Nullable String text) {
		return (text == null) ? FlightRecorder.CAPACITY
				: (int) Arguments.inRange("limit", Arguments.wholeNumber("limit", text), 1, FlightRecorder.CAPACITY);
	}

	private static Map<Integer, RankTrace> accounts(JoinedGroup joined, int limit, @Nullable String timeoutMs) {
		long millis = (timeoutMs == null) ? DEFAULT_TIMEOUT_MILLIS
				: Arguments.inRange("timeoutMs", Arguments.wholeNumber("timeoutMs", timeoutMs), 1, MAX_TIMEOUT_MILLIS);
		return joined.accounts(limit, Duration.ofMillis(millis));
	}

}
