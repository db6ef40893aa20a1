package io.tutti.service.rest;

import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;

/**
 * Reports the errors of every path of Tutti's own web server as problems.
 */
@RestControllerAdvice
final class ServerProblemAdvice extends ProblemAdvice {

	ServerProblemAdvice(ProblemFactory problems) {
		super(problems);
	}

	@ExceptionHandler
	@Nullable ResponseEntity<Object> malformedQuery(InvalidParameterException ex, WebRequest request) {
		return respond(new ProblemException(HttpStatus.BAD_REQUEST, ProblemType.INVALID_ARGUMENT,
				"the query string is malformed"), request);
	}

}
