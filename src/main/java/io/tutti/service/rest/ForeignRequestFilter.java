package io.tutti.service.rest;

import java.io.IOException;
import java.util.Set;

import io.tutti.service.config.AllowedHosts;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.HandlerExceptionResolver;

/**
 * Refuses requests that a browser sends for a web page of another origin, with or without
 * a token. These are state-changing requests from another origin, and all requests under
 * a host that is not this rank's: with DNS rebinding, a page shares an origin with any
 * address that its name points to. Programs send neither header, or their own host. Only
 * the liveness and readiness probes are answered under any host: a wrong host name must
 * not get a rank killed.
 */
@Component
final class ForeignRequestFilter extends OncePerRequestFilter {

	private static final String SITE = "Sec-Fetch-Site";

	/** {@code none}: the user started the request, for example by typing an address. */
	private static final Set<String> OWN_SITES = Set.of("same-origin", "none");

	private final AllowedHosts hosts;

	private final Set<String> probes;

	private final HandlerExceptionResolver problems;

	ForeignRequestFilter(AllowedHosts hosts, WebEndpointProperties actuator,
			@Qualifier("handlerExceptionResolver") HandlerExceptionResolver problems) {
		this.hosts = hosts;
		this.probes = Set.of(actuator.getBasePath() + "/health/liveness", actuator.getBasePath() + "/health/readiness");
		this.problems = problems;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return TokenFilter.reads(request) && this.probes.contains(request.getServletPath());
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		ProblemException refusal = refusal(request);
		if (refusal == null) {
			chain.doFilter(request, response);
			return;
		}
		this.problems.resolveException(request, response, null, refusal);
	}

	private @Nullable ProblemException refusal(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		if (host != null && !isOwn(nameIn(host), request)) {
			return ProblemException.foreignHost(nameIn(host));
		}
		if (!namesNoHost(request) && !isOwn(request.getServerName(), request)) {
			return ProblemException.foreignHost(request.getServerName());
		}
		if (TokenFilter.reads(request)) {
			return null;
		}
		if (isOfAnotherOrigin(request)) {
			return ProblemException.foreignOrigin("origin " + request.getHeader(HttpHeaders.ORIGIN));
		}
		String site = request.getHeader(SITE);
		return (site == null || OWN_SITES.contains(site)) ? null : ProblemException.foreignOrigin(SITE + " " + site);
	}

	/**
	 * Applied to the Host header and to the server name, which trusted forwarded headers
	 * change.
	 */
	private boolean isOwn(String host, HttpServletRequest request) {
		return this.hosts.contains(host, request.getLocalAddr());
	}

	/** Only HTTP/1.0 allows a request without a host; no browser uses it. */
	private static boolean namesNoHost(HttpServletRequest request) {
		return request.getHeader(HttpHeaders.HOST) == null && "HTTP/1.0".equals(request.getProtocol());
	}

	/**
	 * Compares scheme, host and port; an origin that cannot be parsed counts as another.
	 */
	private static boolean isOfAnotherOrigin(HttpServletRequest request) {
		try {
			return CorsUtils.isCorsRequest(request);
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			return true;
		}
	}

	private static String nameIn(String host) {
		int colon = host.lastIndexOf(':');
		return (colon > host.lastIndexOf(']')) ? host.substring(0, colon) : host;
	}

}
