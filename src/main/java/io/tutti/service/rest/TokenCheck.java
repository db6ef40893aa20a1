package io.tutti.service.rest;

import io.tutti.service.config.SharedToken;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;

/**
 * Requires the job's token.
 */
final class TokenCheck {

	private static final String SCHEME = "Bearer ";

	private final SharedToken token;

	TokenCheck(SharedToken token) {
		this.token = token;
	}

	/** Whether the job has a token. */
	boolean isTokenSet() {
		return this.token.isSet();
	}

	/**
	 * Checks the request's token.
	 * @throws ProblemException if it is missing or wrong
	 */
	void require(HttpServletRequest request) {
		String header = request.getHeader(HttpHeaders.AUTHORIZATION);
		if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
			throw ProblemException.missingToken();
		}
		if (!this.token.matches(header.substring(SCHEME.length()).strip())) {
			throw ProblemException.wrongToken();
		}
	}

}
