package io.tutti.service.rest;

import java.io.IOException;

import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;

/**
 * Reports errors of the web server itself, such as a malformed request line, as problems:
 * such a request never reaches a controller.
 */
final class WebServerProblems extends ErrorReportValve {

	private static final int FIRST_ERROR = 400;

	private final ProblemFactory problems;

	private final JsonMapper json;

	WebServerProblems(ProblemFactory problems, JsonMapper json) {
		this.problems = problems;
		this.json = json;
	}

	@Override
	protected void report(Request request, Response response, Throwable failure) {
		if (response.getStatus() < FIRST_ERROR || response.getContentWritten() > 0 || !response.setErrorReported()) {
			return;
		}
		ProblemDetail problem = ProblemDetail.forStatus(response.getStatus());
		problem.setDetail(detail(response.getStatus()));
		this.problems.complete(problem);
		try {
			response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
			response.setCharacterEncoding("UTF-8");
			response.getReporter().write(this.json.writeValueAsString(problem));
			response.finishResponse();
		}
		catch (IOException ex) {
			this.container.getLogger().debug("a client closed its connection before the response", ex);
		}
	}

	/** The web server does not say which part of a request it refuses. */
	private static @Nullable String detail(int status) {
		return switch (status) {
			case HttpServletResponse.SC_BAD_REQUEST -> "the request line or a header is malformed, missing or repeated,"
					+ " or they exceed 8 KiB or 100 headers";
			case HttpServletResponse.SC_NOT_IMPLEMENTED ->
				"the method, or a transfer coding of the body, is not supported";
			case HttpServletResponse.SC_HTTP_VERSION_NOT_SUPPORTED -> "the HTTP version is not supported; use HTTP/1.1";
			default -> null;
		};
	}

}
