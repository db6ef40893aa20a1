package io.tutti.service.rest;

import java.net.URI;
import java.util.Locale;

import io.tutti.Failure;

/**
 * The {@code type} of a problem, with its title and hint.
 */
enum ProblemType {

	COLLECTIVE_TIMEOUT("A deadline passed",
			"Look at the missing ranks: they are stopped, slow or elsewhere in the program"),
	COLLECTIVE_MISMATCH("Ranks called different collectives",
			"Every rank must issue the same collectives in the same order"),
	PEER_LOST("A rank was lost", "Look at the log of the lost rank; the group must be formed anew"),
	GROUP_ABORTED("The group was aborted", "Start the job again when the reason is gone"),
	GROUP_NOT_FORMED("The group has not formed", "Try again when /actuator/health/readiness is UP"),
	AUTH_FAILED("Not allowed", "Send the job's token as Authorization: Bearer"),
	ROUND_CONFLICT("The round cannot be joined",
			"Name a later round on every rank; repeat a round only with the same parameters and body"),
	CALL_WITHDRAWN("The call was withdrawn", "Keep the connection open, in both directions, until the answer has come"),
	OVERLOADED("This rank is busy", "Send the request again after Retry-After seconds"),
	UNSUPPORTED_OP("Not available here", "Ask for something that this rank's backend and configuration offer"),
	NOT_FOUND("There is nothing at this path", "The paths are described at /v3/api-docs"),
	METHOD_NOT_ALLOWED("The path does not take this method", "Use one of the methods in the Allow header"),
	INVALID_ARGUMENT("The request cannot be followed", "Correct the request; it was not carried out");

	private final String title;

	private final String hint;

	ProblemType(String title, String hint) {
		this.title = title;
		this.hint = hint;
	}

	/** The problem type for a failure of the group. */
	static ProblemType of(Failure.Kind kind) {
		return switch (kind) {
			case TIMEOUT -> COLLECTIVE_TIMEOUT;
			case MISMATCH -> COLLECTIVE_MISMATCH;
			case PEER_LOST -> PEER_LOST;
			case ABORTED -> GROUP_ABORTED;
		};
	}

	URI uri() {
		return URI.create("urn:tutti:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-'));
	}

	String title() {
		return this.title;
	}

	String hint() {
		return this.hint;
	}

}
