package io.tutti.service.rest;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.config.annotation.ApiVersionConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Reads the version of the REST interface from the path, {@code /api/v1/…}; other paths
 * have none.
 */
@Configuration(proxyBeanMethods = false)
class ApiVersions implements WebMvcConfigurer {

	@Override
	public void configureApiVersioning(ApiVersionConfigurer versions) {
		versions.useVersionResolver(ApiVersions::versionOf).setVersionRequired(false).addSupportedVersions(Api.VERSION);
	}

	private static @Nullable String versionOf(HttpServletRequest request) {
		String path = request.getRequestURI().substring(request.getContextPath().length());
		if (!path.startsWith(Api.ROOT)) {
			return null;
		}
		int end = path.indexOf('/', Api.ROOT.length());
		return path.substring(Api.ROOT.length(), (end < 0) ? path.length() : end);
	}

}
