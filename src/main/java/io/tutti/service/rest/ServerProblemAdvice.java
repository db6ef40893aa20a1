package io.tutti.service.rest;

import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Reports the errors of every path of Tutti's own web server as problems.
 */
@RestControllerAdvice
final class ServerProblemAdvice extends TomcatProblemAdvice {

	ServerProblemAdvice(ProblemFactory problems) {
		super(problems);
	}

}
