package io.tutti.service.rest;

import java.net.URI;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.context.annotation.Lazy;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * Reports errors outside of controllers, such as those of a filter or of the web server,
 * as problems.
 */
@Lazy
@RestController
final class ProblemErrorController implements ErrorController {

	private final ProblemFactory problems;

	ProblemErrorController(ProblemFactory problems) {
		this.problems = problems;
	}

	@RequestMapping("${server.error.path:${error.path:/error}}")
	ResponseEntity<ProblemDetail> error(HttpServletRequest request) {
		ProblemDetail problem = (request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer code)
				? ProblemDetail.forStatus(code) : ProblemDetail.forStatus(HttpStatus.NOT_FOUND);
		if (problem.getStatus() == HttpStatus.REQUEST_TIMEOUT.value()) {
			problem.setDetail(ProblemAdvice.SLOW_BODY);
		}
		if (request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) instanceof String path) {
			problem.setInstance(instance(path));
		}
		this.problems.complete(problem);
		return ResponseEntity.status(problem.getStatus()).contentType(MediaType.APPLICATION_PROBLEM_JSON).body(problem);
	}

	/** The path as the client sent it, {@code null} if it is no valid path. */
	private static @Nullable URI instance(String encodedPath) {
		try {
			return UriComponentsBuilder.fromPath(encodedPath).build(true).toUri();
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			return null;
		}
	}

}
