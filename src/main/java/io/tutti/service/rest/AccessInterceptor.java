package io.tutti.service.rest;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Checks the origin of requests to the REST interface that change state, inside an
 * application that has its own web server, and requires the job's token for them unless
 * the application has authenticated a user with the operator role. Other controllers of
 * the application are not affected.
 */
final class AccessInterceptor implements HandlerInterceptor {

	private final ForeignRequestCheck origins;

	private final TokenCheck token;

	private final String operatorRole;

	private final boolean anonymous;

	/**
	 * Creates the interceptor.
	 * @param operatorRole role of the users that need no token
	 * @param anonymous whether requests are allowed if no token is set
	 */
	AccessInterceptor(ForeignRequestCheck origins, TokenCheck token, String operatorRole, boolean anonymous) {
		this.origins = origins;
		this.token = token;
		this.operatorRole = operatorRole;
		this.anonymous = anonymous;
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (isOfTutti(handler) && !ForeignRequestCheck.reads(request)) {
			ForeignRequestCheck.requireSameOrigin(request);
			if (!request.isUserInRole(this.operatorRole)) {
				requireToken(request);
			}
		}
		return true;
	}

	/** Whether it is one of ours, which share the base path with the application's. */
	static boolean isOfTutti(Object handler) {
		return handler instanceof HandlerMethod method && method.getBeanType().isAnnotationPresent(ApiController.class);
	}

	private void requireToken(HttpServletRequest request) {
		if (this.token.require(request)) {
			return;
		}
		if (!this.anonymous) {
			throw ProblemException.noTokenConfigured();
		}
		this.origins.requireOwnHost(request);
	}

}
