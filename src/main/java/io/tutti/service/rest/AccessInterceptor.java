package io.tutti.service.rest;

import java.util.Enumeration;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Requires the job's token for requests to the REST interface that change state, inside
 * an application that has its own web server. Does nothing where Spring Security has
 * authorized the request of a user; a rule that lets everyone pass authorizes nobody.
 * Other controllers of the application are not affected.
 */
final class AccessInterceptor implements HandlerInterceptor {

	/**
	 * Start of the name of an attribute that Spring Security's authorization filter sets
	 * while it handles a request. The filter's bean name follows, which differs from run
	 * to run.
	 */
	private static final String AUTHORIZATION_FILTER = "org.springframework.security.web.access.intercept."
			+ "AuthorizationFilter";

	private static final String APPLIED = ".APPLIED";

	private final ForeignRequestCheck origins;

	private final TokenCheck token;

	private final boolean anonymous;

	/**
	 * Creates the interceptor.
	 * @param anonymous whether requests are allowed if no token is set
	 */
	AccessInterceptor(ForeignRequestCheck origins, TokenCheck token, boolean anonymous) {
		this.origins = origins;
		this.token = token;
		this.anonymous = anonymous;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (isOfTutti(handler) && !ForeignRequestCheck.reads(request) && !isAuthorized(request)) {
			require(request);
		}
		return true;
	}

	private static boolean isOfTutti(Object handler) {
		return handler instanceof HandlerMethod method && method.getBeanType().isAnnotationPresent(ApiController.class);
	}

	/** Spring Security names no principal for an anonymous request. */
	private static boolean isAuthorized(HttpServletRequest request) {
		if (request.getUserPrincipal() == null) {
			return false;
		}
		for (Enumeration<String> names = request.getAttributeNames(); names.hasMoreElements();) {
			String name = names.nextElement();
			if (name.startsWith(AUTHORIZATION_FILTER) && name.endsWith(APPLIED)) {
				return true;
			}
		}
		return false;
	}

	private void require(HttpServletRequest request) {
		ForeignRequestCheck.requireSameOrigin(request);
		if (this.token.require(request)) {
			return;
		}
		if (!this.anonymous) {
			throw ProblemException.noTokenConfigured();
		}
		this.origins.requireOwnHost(request);
	}

}
