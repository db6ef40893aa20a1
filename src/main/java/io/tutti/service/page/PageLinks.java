package io.tutti.service.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.tutti.service.config.Switch;
import io.tutti.service.http.EndpointPath;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;
import org.springframework.web.util.HtmlUtils;

/**
 * The links at the foot of the page, to what this application serves beside it. They are
 * relative, so that they also hold behind a proxy that adds a path.
 */
final class PageLinks {

	/** Name of the bean that serves the meters, which exists if they are exposed. */
	private static final String METERS = "prometheusEndpoint";

	private static final String MANAGEMENT_PORT = "management.server.port";

	/** Name of springdoc's bean that serves the description. */
	private static final String DESCRIPTION = "openApiResource";

	private final Environment environment;

	private final BeanFactory beans;

	PageLinks(Environment environment, BeanFactory beans) {
		this.environment = environment;
		this.beans = beans;
	}

	/** The links as HTML, separated by dots. */
	String html() {
		List<String> links = new ArrayList<>();
		if (Switch.isOn(this.environment, "tutti.http.enabled", true)) {
			String api = this.environment.getProperty("tutti.http.base-path", "/api/v1");
			links.add(link(api + "/flight-recorder/analysis", "analysis"));
			links.add(link(api + "/flight-recorder", "flight recorder"));
			links.add(link(api + "/flight-recorder?format=chrome-trace", "timeline"));
			links.add(link(api + "/group/peers", "peers"));
		}
		if (this.beans.containsBean(METERS) && isManagementOnThisPort()) {
			links.add(link(EndpointPath.of(this.beans.getBean(WebEndpointProperties.class), "prometheus"), "meters"));
		}
		if (this.beans.containsBean(DESCRIPTION)) {
			links.add(link(this.environment.getProperty("springdoc.api-docs.path", "/v3/api-docs"), "API description"));
		}
		return String.join(" ·\n    ", links);
	}

	private boolean isManagementOnThisPort() {
		String port = this.environment.getProperty(MANAGEMENT_PORT);
		return port == null || Objects.equals(port, this.environment.getProperty("server.port", "8080"));
	}

	private String link(String path, String text) {
		String href = root() + StringUtils.trimLeadingCharacter(path, '/');
		return "<a href=\"" + HtmlUtils.htmlEscape(href) + "\">" + text + "</a>";
	}

	/** From the path of the page, which ends with a slash, to that of the application. */
	private String root() {
		String path = this.environment.resolvePlaceholders(PageController.PATH);
		int names = StringUtils.tokenizeToStringArray(path, "/").length;
		return "../".repeat(names);
	}

}
