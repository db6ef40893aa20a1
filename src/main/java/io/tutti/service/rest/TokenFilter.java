package io.tutti.service.rest;

import java.io.IOException;
import java.util.Set;

import io.tutti.service.config.SharedToken;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * Requires the job's token, if one is set, for state-changing requests.
 */
@Component
final class TokenFilter extends OncePerRequestFilter {

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private static final String SCHEME = "Bearer ";

	private final SharedToken token;

	private final HandlerExceptionResolver problems;

	TokenFilter(SharedToken token, @Qualifier("handlerExceptionResolver") HandlerExceptionResolver problems) {
		this.token = token;
		this.problems = problems;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return !this.token.isSet() || reads(request);
	}

	/** Whether the method of a request is read-only. */
	static boolean reads(HttpServletRequest request) {
		return READING.contains(request.getMethod());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		String header = request.getHeader(HttpHeaders.AUTHORIZATION);
		boolean presented = header != null && header.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
		if (presented && this.token.matches(header.substring(SCHEME.length()).strip())) {
			chain.doFilter(request, response);
			return;
		}
		this.problems.resolveException(request, response, null,
				presented ? ProblemException.wrongToken() : ProblemException.missingToken());
	}

}
