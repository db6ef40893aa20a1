package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;

import io.tutti.service.config.HttpProperties;
import io.tutti.service.http.ClientConnection;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.http.converter.json.JacksonJsonHttpMessageConverter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * The checks between the server and the controllers of the REST interface: access, then
 * the encoding of the body, then query parameters, then the limit on concurrent flight
 * recorder reads. Also selects the mapper that reads their bodies, and reports requests
 * that no controller accepts.
 */
final class RestInterceptors implements WebMvcConfigurer {

	/** Enough for people and tools; more concurrent readers only wait for each other. */
	private static final int READERS = 4;

	private static final Duration READER_TIMEOUT = Duration.ofSeconds(5);

	/**
	 * The longest timeout of a query, and as long for the client to read the response.
	 */
	private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);

	private final String basePath;

	private final @Nullable AccessInterceptor access;

	private final Iterable<RequestMappingHandlerMapping> mappings;

	/**
	 * Creates the checks.
	 * @param access {@code null} if a filter checks access before the interceptors
	 * @param mappings are read when a request is refused
	 */
	RestInterceptors(HttpProperties properties, @Nullable AccessInterceptor access,
			Iterable<RequestMappingHandlerMapping> mappings) {
		this.basePath = properties.basePath();
		this.access = access;
		this.mappings = mappings;
	}

	@Override
	public void addInterceptors(InterceptorRegistry interceptors) {
		if (this.access != null) {
			interceptors.addInterceptor(this.access);
		}
		interceptors.addInterceptor(new EncodingCheck()).addPathPatterns(this.basePath + "/**");
		interceptors.addInterceptor(new QueryCheck()).addPathPatterns(this.basePath + "/**");
		interceptors.addInterceptor(new RecorderGate(READERS, READER_TIMEOUT, ANSWER_TIMEOUT, ClientConnection::of))
			.addPathPatterns(this.basePath + "/flight-recorder/**");
	}

	@Override
	public void extendHandlerExceptionResolvers(List<HandlerExceptionResolver> resolvers) {
		resolvers.addFirst(new RefusedRequests(this.mappings, List.copyOf(resolvers)));
	}

	@Override
	public void configureMessageConverters(HttpMessageConverters.ServerBuilder converters) {
		JsonMapper mapper = JsonRequest.mapper();
		converters.configureMessageConverters((converter) -> {
			if (converter instanceof JacksonJsonHttpMessageConverter json) {
				json.registerMappersForType(JsonRequest.class,
						(mappers) -> mappers.put(MediaType.APPLICATION_JSON, mapper));
			}
		});
	}

	/** Refuses a compressed body, whose bytes would be taken for elements. */
	private static final class EncodingCheck implements HandlerInterceptor {

		@Override
		public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
			String encoding = request.getHeader(HttpHeaders.CONTENT_ENCODING);
			if (encoding != null && !encoding.equalsIgnoreCase("identity") && AccessInterceptor.isOfTutti(handler)) {
				throw new ProblemException(HttpStatus.UNSUPPORTED_MEDIA_TYPE, ProblemType.UNSUPPORTED_MEDIA_TYPE,
						"Content-Encoding " + encoding + " is not supported")
					.member("hint", "Send the body without compression and without Content-Encoding");
			}
			return true;
		}

	}

}
