package io.tutti.service.rest;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Refuses a query with an unknown or repeated parameter: a misspelt parameter must not
 * silently take its default.
 */
final class QueryCheck implements HandlerInterceptor {

	/** Known parameters of each endpoint, read from its annotations once. */
	private final Map<Method, Set<String>> known = new ConcurrentHashMap<>();

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
		if (handler instanceof HandlerMethod method && isChecked(method.getBeanType())) {
			check(request.getParameterMap(), this.known.computeIfAbsent(method.getMethod(), (_) -> parameters(method)));
		}
		return true;
	}

	/** The collectives' parameters are not method parameters. */
	private static boolean isChecked(Class<?> controller) {
		return controller.isAnnotationPresent(ApiController.class) && controller != CollectiveController.class;
	}

	/**
	 * Checks the parameters of a request.
	 * @throws ProblemException if one is unknown or repeated
	 */
	static void check(Map<String, String[]> given, Set<String> known) {
		given.forEach((name, values) -> {
			if (!known.contains(name)) {
				throw ProblemException.invalidArgument("unknown parameter " + name
						+ (known.isEmpty() ? "; this endpoint has none" : "; known are " + known));
			}
			if (values.length > 1) {
				throw ProblemException.invalidArgument("parameter " + name + " is given " + values.length + " times");
			}
		});
	}

	private static Set<String> parameters(HandlerMethod method) {
		Set<String> names = new TreeSet<>();
		for (MethodParameter parameter : method.getMethodParameters()) {
			if (parameter.hasParameterAnnotation(RequestParam.class)) {
				names.add(parameter.getParameter().getName());
			}
		}
		RequestMapping mapping = AnnotatedElementUtils.getMergedAnnotation(method.getMethod(), RequestMapping.class);
		for (String condition : (mapping != null) ? mapping.params() : new String[0]) {
			names.add(condition.replaceAll("[!=].*", ""));
		}
		return names;
	}

}
