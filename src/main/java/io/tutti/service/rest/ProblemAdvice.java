package io.tutti.service.rest;

import java.net.SocketTimeoutException;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.service.group.GroupUnavailableException;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DatabindException;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Maps every exception to a problem (RFC 9457). An unexpected exception is logged and
 * does not appear in the body.
 */
@RestControllerAdvice
final class ProblemAdvice extends ResponseEntityExceptionHandler {

	private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

	private static final String RETRY_AFTER_SECONDS = "5";

	private final ProblemFactory problems;

	ProblemAdvice(ProblemFactory problems) {
		this.problems = problems;
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> unavailable(GroupUnavailableException ex) {
		return answer(this.problems.unavailable(ex.status(), String.valueOf(ex.getMessage())));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> barrierFailed(BarrierFailedException ex) {
		return answer(this.problems.barrier(ex));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> invalid(InvalidArgumentException ex) {
		return answer(this.problems.problem(HttpStatus.UNPROCESSABLE_CONTENT, ProblemType.INVALID_ARGUMENT,
				String.valueOf(ex.getMessage())));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> notMatched(CallNotMatchedException ex) {
		return answer(this.problems.notMatched(ex));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> roundConflict(RoundConflictException ex) {
		return answer(this.problems.problem(HttpStatus.CONFLICT, ProblemType.ROUND_CONFLICT,
				String.valueOf(ex.getMessage())));
	}

	/** Only a client that has half-closed its connection receives this response. */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> withdrawn(CallWithdrawnException ex) {
		return answer(this.problems.problem(HttpStatus.CONFLICT, ProblemType.CALL_WITHDRAWN,
				String.valueOf(ex.getMessage())));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> overloaded(OverloadedException ex) {
		ProblemDetail problem = this.problems.problem(HttpStatus.SERVICE_UNAVAILABLE, ProblemType.OVERLOADED,
				String.valueOf(ex.getMessage()));
		return ResponseEntity.status(problem.getStatus())
			.header(HttpHeaders.RETRY_AFTER, RETRY_AFTER_SECONDS)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(problem);
	}

	/**
	 * Invalid percent encoding in the query, which the web server detects only when the
	 * parameters are read.
	 */
	@ExceptionHandler
	ResponseEntity<ProblemDetail> unreadable(InvalidParameterException ex) {
		return answer(this.problems.problem(HttpStatus.BAD_REQUEST, ProblemType.INVALID_ARGUMENT,
				"the query cannot be read"));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> tooLarge(BodyTooLargeException ex) {
		return answer(this.problems.problem(HttpStatus.CONTENT_TOO_LARGE, ProblemType.INVALID_ARGUMENT,
				String.valueOf(ex.getMessage())));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> tooSlow(SocketTimeoutException ex) {
		return answer(late());
	}

	@ExceptionHandler({ SwitchedOffException.class, UnsupportedOperationException.class })
	ResponseEntity<ProblemDetail> unsupported(RuntimeException ex) {
		return answer(this.problems.problem(HttpStatus.NOT_IMPLEMENTED, ProblemType.UNSUPPORTED_OP,
				String.valueOf(ex.getMessage())));
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> denied(AccessDeniedException ex) {
		HttpStatus status = ex.presented() ? HttpStatus.FORBIDDEN : HttpStatus.UNAUTHORIZED;
		ProblemDetail problem = this.problems.problem(status, ProblemType.AUTH_FAILED, String.valueOf(ex.getMessage()));
		return ResponseEntity.status(status)
			.header(HttpHeaders.WWW_AUTHENTICATE, "Bearer")
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(problem);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> foreign(ForeignRequestException ex) {
		ProblemDetail problem = this.problems.problem(HttpStatus.FORBIDDEN, ProblemType.AUTH_FAILED,
				String.valueOf(ex.getMessage()));
		problem.setProperty("hint", ex.hint());
		return answer(problem);
	}

	@ExceptionHandler
	ResponseEntity<ProblemDetail> unforeseen(RuntimeException ex) {
		log.error("request failed", ex);
		return answer(this.problems.internal());
	}

	/** Adds the rank to the problems that Spring builds. */
	@Override
	protected ResponseEntity<Object> createResponseEntity(@Nullable Object body, HttpHeaders headers,
			HttpStatusCode status, WebRequest request) {
		if (body instanceof ProblemDetail problem) {
			this.problems.complete(problem);
		}
		return ResponseEntity.status(status)
			.headers(headers)
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.body(body);
	}

	/** Replaces Spring's text for a missing content type, which would name it null. */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMediaTypeNotSupported(HttpMediaTypeNotSupportedException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		if (ex.getContentType() == null) {
			ex.getBody()
				.setDetail("Content-Type is missing; supported: " + MediaType.toString(ex.getSupportedMediaTypes()));
		}
		return super.handleHttpMediaTypeNotSupported(ex, headers, status, request);
	}

	/**
	 * Malformed JSON gives 400, JSON that does not fit the endpoint 422, a body that is
	 * too large 413, and a body that is too slow 408.
	 */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(HttpMessageNotReadableException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		ProblemDetail problem = cameTooSlowly(ex) ? late() : switch (ex.getCause()) {
			case StreamConstraintsException _ -> this.problems.problem(HttpStatus.CONTENT_TOO_LARGE,
					ProblemType.INVALID_ARGUMENT, "the body is larger than this endpoint takes");
			case StreamReadException _ -> malformed();
			case DatabindException cause -> this.problems.problem(HttpStatus.UNPROCESSABLE_CONTENT,
					ProblemType.INVALID_ARGUMENT, JsonMistake.describe(cause));
			case null, default -> malformed();
		};
		return handleExceptionInternal(ex, problem, headers, HttpStatusCode.valueOf(problem.getStatus()), request);
	}

	/** Searches the cause chain, since the reader of the body wraps the timeout. */
	private static boolean cameTooSlowly(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.limit(8)
			.anyMatch(SocketTimeoutException.class::isInstance);
	}

	private ProblemDetail late() {
		return this.problems.problem(HttpStatus.REQUEST_TIMEOUT, ProblemType.INVALID_ARGUMENT,
				"the body did not come in time");
	}

	private ProblemDetail malformed() {
		return this.problems.problem(HttpStatus.BAD_REQUEST, ProblemType.INVALID_ARGUMENT,
				"the body is missing or is not valid JSON");
	}

	private static ResponseEntity<ProblemDetail> answer(ProblemDetail problem) {
		return ResponseEntity.status(problem.getStatus()).contentType(MediaType.APPLICATION_PROBLEM_JSON).body(problem);
	}

}
