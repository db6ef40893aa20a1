package io.tutti.service.rest;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

import io.tutti.service.TuttiApplication;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, properties = { FormedRank.RANK, FormedRank.WORLD_SIZE })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class PageTest {

	@Autowired
	private MockMvcTester http;

	@Test
	void thePageLoadsOnlyFilesOfThisRankAndHasNoInlineScript() {
		for (String path : new String[] { "/", "/page/page.css", "/page/page.js", "/page/icon.svg" }) {
			assertThat(this.http.get().uri(path)).hasStatusOk()
				.headers()
				.hasValue("Content-Security-Policy",
						"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
								+ "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
				.hasValue("X-Content-Type-Options", "nosniff");
			assertThat(this.http.get().uri(path)).bodyText()
				.doesNotContain("https://", "//cdn", " style=", "onclick", "<style")
				.doesNotContainPattern("http://(?!www\\.w3\\.org/2000/svg)");
		}
		assertThat(this.http.get().uri("/")).bodyText().doesNotContainPattern("<script(?! src=\"page/)");
	}

	@Test
	void theLinksLeadToWhatThisRankServes() throws Exception {
		String page = this.http.get().uri("/").exchange().getResponse().getContentAsString();
		List<String> links = Pattern.compile("<a href=\"([^\"]+)\"")
			.matcher(page)
			.results()
			.map((link) -> "/" + link.group(1))
			.toList();
		assertThat(links).hasSize(6).contains("/v3/api-docs", "/actuator/prometheus", "/api/v1/group/peers");
		assertThat(links).allSatisfy((link) -> assertThat(this.http.get().uri(link)).hasStatusOk());
	}

	@Test
	@DirtiesContext
	void aViewerTooManyIsToldWhenToComeBack() {
		for (int viewer = 0; viewer < 32; viewer++) {
			this.http.get().uri("/page/events").asyncExchange();
		}
		assertThat(this.http.get().uri("/page/events")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasHeader("Retry-After", "5")
			.bodyText()
			.contains("at most 32 may be open at once");
	}

	@Test
	void headOpensNoStream() {
		assertThat(this.http.head().uri("/page/events").exchange()).hasStatusOk();
	}

	@Test
	void aViewerReceivesTheStateOfTheGroup() {
		MvcTestResult events = this.http.get().uri("/page/events").asyncExchange();
		Awaitility.await()
			.atMost(20, TimeUnit.SECONDS)
			.until(() -> events.getResponse().getContentAsString(), (sent) -> sent.contains("event:state")
					&& sent.contains("\"state\":\"READY\",\"rank\":1,\"worldSize\":3"));
	}

}
