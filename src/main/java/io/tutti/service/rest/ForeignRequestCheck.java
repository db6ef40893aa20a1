package io.tutti.service.rest;

import java.util.Collections;
import java.util.Set;

import io.tutti.service.config.AllowedHosts;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.web.cors.CorsUtils;

/**
 * Refuses requests that a browser sends for a web page of another origin, with or without
 * a token. These are state-changing requests from another origin, and requests under a
 * host that is not this rank's: with DNS rebinding, a page shares an origin with any
 * address that its name points to. Programs send neither header, or their own host.
 */
final class ForeignRequestCheck {

	private static final String SITE = "Sec-Fetch-Site";

	/** {@code none}: the user started the request, for example by typing an address. */
	private static final Set<String> OWN_SITES = Set.of("same-origin", "none");

	private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private final AllowedHosts hosts;

	ForeignRequestCheck(AllowedHosts hosts) {
		this.hosts = hosts;
	}

	/** Whether the method of a request is read-only. */
	static boolean reads(HttpServletRequest request) {
		return READING.contains(request.getMethod());
	}

	/**
	 * Checks the host that a request names, against DNS rebinding.
	 * @throws ProblemException if it is not this rank's
	 */
	void requireOwnHost(HttpServletRequest request) {
		String host = request.getHeader(HttpHeaders.HOST);
		if (host != null) {
			requireOwn(nameIn(host), request);
		}
		if (!namesNoHost(request)) {
			requireOwn(request.getServerName(), request);
		}
	}

	/**
	 * The server name differs from the header behind a proxy that the rank trusts, or
	 * with an absolute request target.
	 */
	private void requireOwn(String host, HttpServletRequest request) {
		if (!this.hosts.contains(host, request.getLocalAddr())) {
			throw ProblemException.foreignHost(host);
		}
	}

	/**
	 * Checks the origin of a request that changes state.
	 * @throws ProblemException if it is another
	 */
	static void requireSameOrigin(HttpServletRequest request) {
		if (isOfAnotherOrigin(request)) {
			throw ProblemException.foreignOrigin("origin " + request.getHeader(HttpHeaders.ORIGIN));
		}
		String site = request.getHeader(SITE);
		if (site != null && !OWN_SITES.contains(site)) {
			throw ProblemException.foreignOrigin(SITE + " " + site);
		}
	}

	/** Only HTTP/1.0 allows a request without a host; no browser uses it. */
	private static boolean namesNoHost(HttpServletRequest request) {
		return request.getHeader(HttpHeaders.HOST) == null && "HTTP/1.0".equals(request.getProtocol());
	}

	/**
	 * Compares scheme, host and port; an origin that cannot be parsed and several origins
	 * count as another.
	 */
	private static boolean isOfAnotherOrigin(HttpServletRequest request) {
		try {
			return Collections.list(request.getHeaders(HttpHeaders.ORIGIN)).size() > 1
					|| CorsUtils.isCorsRequest(request);
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
