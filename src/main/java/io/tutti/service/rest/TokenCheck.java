package io.tutti.service.rest;

import io.tutti.service.config.SharedToken;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;

/**
 * Requires the job's token, if it has one.
 */
final class TokenCheck {

	private static final String SCHEME = "Bearer ";

	private final SharedToken token;

	TokenCheck(SharedToken token) {
		this.token = token;
	}

	/**
	 * Checks the request's token.
	 * @return whether the job has a token
	 * @throws ProblemException if it is missing or wrong
	 */
	boolean require(HttpServletRequest request) {
		if (!this.token.isSet()) {
			return false;
		}
		String header = request.getHeader(HttpHeaders.AUTHORIZATION);
		if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
			throw ProblemException.missingToken();
		}
		if (!this.token.matches(header.substring(SCHEME.length()).strip())) {
			throw ProblemException.wrongToken();
		}
		return true;
	}

}
