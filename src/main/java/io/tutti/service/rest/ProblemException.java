package io.tutti.service.rest;

import io.tutti.service.http.RequestLimit;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * A request that this rank refuses or cannot carry out, as the RFC 9457 problem with
 * which it responds.
 */
class ProblemException extends ErrorResponseException {

	private static final String FORMED_AFTER_SECONDS = "1";

	private static final long serialVersionUID = 1L;

	private final String detail;

	ProblemException(HttpStatus status, ProblemType type, String detail) {
		super(status, problem(status, type, detail), null);
		this.detail = detail;
	}

	private static ProblemDetail problem(HttpStatus status, ProblemType type, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
		type.apply(problem);
		return problem;
	}

	static ProblemException invalidArgument(String detail) {
		return new ProblemException(HttpStatus.UNPROCESSABLE_CONTENT, ProblemType.INVALID_ARGUMENT, detail);
	}

	/** The named round is over, or was called with other parameters or another body. */
	static ProblemException roundConflict(String detail) {
		return new ProblemException(HttpStatus.CONFLICT, ProblemType.ROUND_CONFLICT, detail);
	}

	/** No memory is available for a call, or too many requests are under way. */
	static ProblemException overloaded(String detail) {
		return new ProblemException(HttpStatus.SERVICE_UNAVAILABLE, ProblemType.OVERLOADED, detail)
			.header(HttpHeaders.RETRY_AFTER, RequestLimit.RETRY_AFTER_SECONDS);
	}

	/** The feature is disabled, or the backend lacks it. */
	static ProblemException unsupported(String detail) {
		return new ProblemException(HttpStatus.NOT_IMPLEMENTED, ProblemType.UNSUPPORTED_OP, detail);
	}

	static ProblemException missingToken() {
		return denied(HttpStatus.UNAUTHORIZED, "this request needs the job's token")
			.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
	}

	static ProblemException wrongToken() {
		return denied(HttpStatus.FORBIDDEN, "the token is wrong").header(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
	}

	/** In an application that has its own web server, which may be open to anyone. */
	static ProblemException noTokenConfigured() {
		return denied(HttpStatus.FORBIDDEN, "this request changes state, and the job has no token").member("hint",
				"Set tutti.security.token or tutti.security.token-file, or authenticate users with the role in"
						+ " tutti.http.operator-role, or set tutti.security.anonymous=true");
	}

	static ProblemException foreignHost(String host) {
		return denied(HttpStatus.FORBIDDEN, "the host " + host + " is not a name or address of this rank")
			.member("hint", "Send the request to an address of this rank, or add the host to tutti.http.allowed-hosts"
					+ " (TUTTI_HTTP_ALLOWEDHOSTS)");
	}

	static ProblemException foreignOrigin(String origin) {
		return denied(HttpStatus.FORBIDDEN,
				"this request changes state and is from a web page of another origin (" + origin + ")")
			.member("hint",
					"Send it from a program, which names no origin; behind a proxy that ends TLS or replaces the"
							+ " host, let the rank trust its forwarded headers (server.forward-headers-strategy)");
	}

	private static ProblemException denied(HttpStatus status, String detail) {
		return new ProblemException(status, ProblemType.AUTH_FAILED, detail);
	}

	/** Sets a member of the problem. */
	final ProblemException member(String name, Object value) {
		getBody().setProperty(name, value);
		return this;
	}

	/** A group that forms again does so within seconds. */
	final ProblemException retryWhenFormed() {
		return header(HttpHeaders.RETRY_AFTER, FORMED_AFTER_SECONDS);
	}

	private ProblemException header(String name, String value) {
		getHeaders().set(name, value);
		return this;
	}

	@Override
	public String getMessage() {
		return this.detail;
	}

}
