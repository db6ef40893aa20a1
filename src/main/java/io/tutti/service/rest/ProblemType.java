package io.tutti.service.rest;

import java.net.URI;
import java.util.Locale;

import io.tutti.Failure;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;

/**
 * The problem types, with a stable URI, a title and a hint each.
 */
enum ProblemType {

	COLLECTIVE_TIMEOUT("A deadline passed",
			"Check the missing ranks: they have stopped, are slow or are at another call"),

	COLLECTIVE_MISMATCH("Ranks called different collectives",
			"Every rank must issue the same collectives in the same order"),

	PEER_LOST("A rank was lost",
			"Check the log of the lost rank; start the job again unless this response has Retry-After"),

	GROUP_ABORTED("The group was aborted", "Remove the reason, then start the job again"),

	GROUP_NOT_FORMED("The group has not formed", "Try again when /actuator/health/readiness is UP"),

	AUTH_FAILED("Not allowed", "Send the job's token as Authorization: Bearer"),

	ROUND_CONFLICT("The round cannot be joined",
			"Name a later round on every rank; repeat a round only with the same parameters and body"),

	CALL_WITHDRAWN("The call was withdrawn", "Keep the connection open, in both directions, until the response"),

	OVERLOADED("This rank is busy", "Send the request again after Retry-After seconds"),

	UNSUPPORTED_OP("Not available here", "Use a feature that this rank's backend and configuration provide"),

	NOT_FOUND("No resource at this path", "The paths of the REST interface are described at its /v3/api-docs"),

	METHOD_NOT_ALLOWED("The path does not support this method", "Use one of the methods in the Allow header"),

	NOT_ACCEPTABLE("No accepted media type is available", "Send an Accept header with a type that the detail names"),

	UNSUPPORTED_MEDIA_TYPE("The content type is not supported",
			"Send the body with a Content-Type that the endpoint accepts"),

	INVALID_ARGUMENT("The request is invalid", "Correct the request; it had no effect"),

	INTERNAL_ERROR("Internal error", "Check the log of this rank");

	private final String title;

	private final String hint;

	ProblemType(String title, String hint) {
		this.title = title;
		this.hint = hint;
	}

	/** The problem type of a failure. */
	static ProblemType of(Failure.Kind kind) {
		return switch (kind) {
			case TIMEOUT -> COLLECTIVE_TIMEOUT;
			case MISMATCH -> COLLECTIVE_MISMATCH;
			case PEER_LOST -> PEER_LOST;
			case ABORTED -> GROUP_ABORTED;
		};
	}

	/**
	 * The problem type of an error that Spring or the web server detected. Its 503s are
	 * due to load.
	 */
	static ProblemType of(HttpStatusCode status) {
		return switch (HttpStatus.resolve(status.value())) {
			case SERVICE_UNAVAILABLE -> OVERLOADED;
			case NOT_FOUND -> NOT_FOUND;
			case METHOD_NOT_ALLOWED -> METHOD_NOT_ALLOWED;
			case NOT_ACCEPTABLE -> NOT_ACCEPTABLE;
			case UNSUPPORTED_MEDIA_TYPE -> UNSUPPORTED_MEDIA_TYPE;
			case NOT_IMPLEMENTED, HTTP_VERSION_NOT_SUPPORTED -> INVALID_ARGUMENT;
			case null, default -> status.is4xxClientError() ? INVALID_ARGUMENT : INTERNAL_ERROR;
		};
	}

	/** Sets type, title and hint of a problem. */
	void apply(ProblemDetail problem) {
		problem.setType(uri());
		problem.setTitle(this.title);
		problem.setProperty("hint", this.hint);
	}

	URI uri() {
		return URI.create("urn:tutti:problem:" + name().toLowerCase(Locale.ROOT).replace('_', '-'));
	}

}
