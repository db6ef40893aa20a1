package io.tutti.service.rest;

import org.apache.tomcat.util.http.InvalidParameterException;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;

/**
 * Reports also what Tomcat throws when the query string is first read.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
@RestControllerAdvice(annotations = ApiController.class)
class TomcatProblemAdvice extends ProblemAdvice {

	TomcatProblemAdvice(ProblemFactory problems) {
		super(problems);
	}

	@ExceptionHandler
	final @Nullable ResponseEntity<Object> malformedQuery(InvalidParameterException ex, WebRequest request) {
		return respond(new ProblemException(HttpStatus.BAD_REQUEST, ProblemType.INVALID_ARGUMENT,
				"the query string is malformed"), request);
	}

}
