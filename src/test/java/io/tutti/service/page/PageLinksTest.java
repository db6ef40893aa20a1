package io.tutti.service.page;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointProperties;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class PageLinksTest {

	private final WebEndpointProperties actuator = new WebEndpointProperties();

	private final PageLinks links = new PageLinks(
			new MockEnvironment().withProperty("tutti.http.enabled", "false").withProperty("tutti.page.path", "/"),
			new StaticListableBeanFactory(Map.of("prometheusEndpoint", "exposed", "actuator", this.actuator)));

	@Test
	void theMetersAreWhereSpringMapsThem() {
		assertThat(this.links.html()).isEqualTo("<a href=\"actuator/prometheus\">meters</a>");
		this.actuator.setBasePath("/watch/");
		assertThat(this.links.html()).isEqualTo("<a href=\"watch/prometheus\">meters</a>");
		this.actuator.setBasePath("/");
		this.actuator.getPathMapping().put("prometheus", "meters");
		assertThat(this.links.html()).isEqualTo("<a href=\"meters\">meters</a>");
	}

}
