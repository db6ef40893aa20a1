package io.tutti.service.rest;

import java.io.IOException;
import java.util.Set;

import io.tutti.service.http.EndpointPath;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Checks host, origin and token of every request to Tutti's own server, including its
 * actuator. Only the liveness and readiness probes are answered under any host: a wrong
 * host name must not get a rank killed.
 */
final class AccessFilter extends OncePerRequestFilter {

	private final ForeignRequestCheck origins;

	private final TokenCheck token;

	private final Set<String> probes;

	private final HandlerExceptionResolver problems;

	AccessFilter(ForeignRequestCheck origins, TokenCheck token, WebEndpointProperties actuator,
			@Qualifier("handlerExceptionResolver") HandlerExceptionResolver problems) {
		this.origins = origins;
		this.token = token;
		String health = EndpointPath.of(actuator, "health");
		this.probes = Set.of(health + "/liveness", health + "/readiness");
		this.problems = problems;
	}

	/** By the path as sent, by which Spring chooses what answers. */
	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return ForeignRequestCheck.reads(request) && isProbe(request);
	}

	private boolean isProbe(HttpServletRequest request) {
		try {
			return this.probes.contains(ServletRequestPathUtils.parse(request).pathWithinApplication().value());
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			// The prefix in front of the path is spelled in another way.
			return false;
		}
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		try {
			require(request);
		}
		catch (ProblemException ex) {
			this.problems.resolveException(request, response, null, ex);
			return;
		}
		chain.doFilter(request, response);
	}

	private void require(HttpServletRequest request) {
		this.origins.requireOwnHost(request);
		if (!ForeignRequestCheck.reads(request)) {
			ForeignRequestCheck.requireSameOrigin(request);
			this.token.require(request);
		}
	}

}
