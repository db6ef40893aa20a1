package io.tutti.service.rest;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Responds with a problem to a request for a path of the REST interface that Spring
 * refuses before it selects a controller, because of its method or media types. Spring
 * asks only advice for all controllers then, which is the application's. Leaves the
 * errors of filters, which have no parsed path, to the other resolvers.
 */
final class RefusedRequests implements HandlerExceptionResolver {

	private final Iterable<RequestMappingHandlerMapping> mappings;

	private final List<HandlerExceptionResolver> resolvers;

	/**
	 * Creates the resolver.
	 * @param resolvers select the advice for a controller
	 */
	RefusedRequests(Iterable<RequestMappingHandlerMapping> mappings, List<HandlerExceptionResolver> resolvers) {
		this.mappings = mappings;
		this.resolvers = resolvers;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		if (handler != null || !ServletRequestPathUtils.hasParsedRequestPath(request)) {
			return null;
		}
		return controllerOf(request).map((controller) -> resolve(request, response, controller, ex)).orElse(null);
	}

	/** A method of Tutti's for this path, whatever the request's method and types. */
	private Optional<HandlerMethod> controllerOf(HttpServletRequest request) {
		for (RequestMappingHandlerMapping mapping : this.mappings) {
			for (Map.Entry<RequestMappingInfo, HandlerMethod> entry : mapping.getHandlerMethods().entrySet()) {
				if (entry.getValue().getBeanType().isAnnotationPresent(ApiController.class)
						&& entry.getKey().getActivePatternsCondition().getMatchingCondition(request) != null) {
					return Optional.of(entry.getValue());
				}
			}
		}
		return Optional.empty();
	}

	private @Nullable ModelAndView resolve(HttpServletRequest request, HttpServletResponse response,
			HandlerMethod controller, Exception ex) {
		return this.resolvers.stream()
			.map((resolver) -> resolver.resolveException(request, response, controller, ex))
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

}
