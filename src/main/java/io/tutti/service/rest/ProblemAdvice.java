package io.tutti.service.rest;

import java.net.SocketTimeoutException;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.service.group.GroupUnavailableException;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
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
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/**
 * Completes the problems of the REST interface with this rank's identity, and maps
 * exceptions that are not problems to one.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
@RestControllerAdvice(annotations = ApiController.class)
class ProblemAdvice extends ResponseEntityExceptionHandler {

	static final String SLOW_BODY = "the body did not arrive in time";

	private static final Logger log = LoggerFactory.getLogger(ProblemAdvice.class);

	private final ProblemFactory problems;

	ProblemAdvice(ProblemFactory problems) {
		this.problems = problems;
	}

	@ExceptionHandler
	@Nullable ResponseEntity<Object> unavailable(GroupUnavailableException ex, WebRequest request) {
		return respond(this.problems.unavailable(ex), request);
	}

	@ExceptionHandler
	@Nullable ResponseEntity<Object> slowBody(SocketTimeoutException ex, WebRequest request) {
		return respond(slowBody(), request);
	}

	@ExceptionHandler
	@Nullable ResponseEntity<Object> unsupported(UnsupportedOperationException ex, WebRequest request) {
		return respond(ProblemException.unsupported(String.valueOf(ex.getMessage())), request);
	}

	@ExceptionHandler
	@Nullable ResponseEntity<Object> unexpected(RuntimeException ex, WebRequest request) {
		log.error("request failed", ex);
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR,
				"internal error; see this rank's log");
		return handleExceptionInternal(ex, problem, new HttpHeaders(), HttpStatus.INTERNAL_SERVER_ERROR, request);
	}

	/** The web server has answered a body that was too slow, as an error. */
	final @Nullable ResponseEntity<Object> respond(ProblemException problem, WebRequest request) {
		HttpServletResponse response = ((ServletWebRequest) request).getResponse();
		return (response != null && response.isCommitted()) ? null
				: handleExceptionInternal(problem, null, problem.getHeaders(), problem.getStatusCode(), request);
	}

	@Override
	protected ResponseEntity<Object> createResponseEntity(@Nullable Object body, HttpHeaders headers,
			HttpStatusCode status, WebRequest request) {
		Object own = (body instanceof ProblemDetail problem) ? this.problems.complete(new OwnProblem(problem)) : body;
		return ResponseEntity.status(status).headers(headers).contentType(MediaType.APPLICATION_PROBLEM_JSON).body(own);
	}

	/** The problem of one response. Requests of a named round share an exception. */
	private static final class OwnProblem extends ProblemDetail {

		private static final long serialVersionUID = 1L;

		OwnProblem(ProblemDetail shared) {
			super(shared);
		}

	}

	/** Replaces Spring's text, which names no supported type, nor an unreadable one. */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMediaTypeNotSupported(HttpMediaTypeNotSupportedException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		String type = request.getHeader(HttpHeaders.CONTENT_TYPE);
		ex.getBody()
			.setDetail("Content-Type " + ((type != null && !type.isBlank()) ? type + " is not supported" : "is missing")
					+ "; supported: " + MediaType.toString(ex.getSupportedMediaTypes()));
		return super.handleHttpMediaTypeNotSupported(ex, headers, status, request);
	}

	/**
	 * Malformed JSON gives 400, JSON that does not fit the endpoint 422, a body that is
	 * too large 413, and a body that is too slow 408. Spring's texts name Java classes.
	 */
	@Override
	protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(HttpMessageNotReadableException ex,
			HttpHeaders headers, HttpStatusCode status, WebRequest request) {
		return respond(isTimeout(ex) ? slowBody() : switch (ex.getCause()) {
			case StreamConstraintsException _ ->
				new ProblemException(HttpStatus.CONTENT_TOO_LARGE, ProblemType.INVALID_ARGUMENT, "the body exceeds "
						+ JsonRequest.MAX_BYTES + " bytes or " + JsonRequest.MAX_NESTING + " levels of nesting");
			case InputCoercionException cause -> ProblemException.invalidArgument(invalidField(cause));
			case StreamReadException cause -> malformedBody("not valid JSON, or repeats a field, at line "
					+ cause.getLocation().getLineNr() + ", column " + cause.getLocation().getColumnNr());
			case DatabindException cause -> ProblemException.invalidArgument(invalidField(cause));
			case null, default -> malformedBody("missing or cannot be read");
		}, request);
	}

	/** Searches the cause chain, since the reader of the body wraps the timeout. */
	private static boolean isTimeout(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.limit(8)
			.anyMatch(SocketTimeoutException.class::isInstance);
	}

	private static ProblemException slowBody() {
		return new ProblemException(HttpStatus.REQUEST_TIMEOUT, ProblemType.INVALID_ARGUMENT, SLOW_BODY);
	}

	private static ProblemException malformedBody(String problem) {
		return new ProblemException(HttpStatus.BAD_REQUEST, ProblemType.INVALID_ARGUMENT, "the body is " + problem);
	}

	/** Names the invalid field of a JSON body, without names of Java classes. */
	private static String invalidField(JacksonException mistake) {
		return switch (mistake) {
			case UnrecognizedPropertyException unknown -> "unknown field "
					+ Arguments.shortened(unknown.getPropertyName()) + "; known are " + unknown.getKnownPropertyIds();
			case InputCoercionException _ when !mistake.getPath().isEmpty() ->
				"field " + mistake.getPath().getLast().getPropertyName() + " is out of range";
			case MismatchedInputException _ when !mistake.getPath().isEmpty() ->
				"field " + mistake.getPath().getLast().getPropertyName() + " has a value of the wrong type";
			default -> "the body is not a JSON object of this endpoint";
		};
	}

}
