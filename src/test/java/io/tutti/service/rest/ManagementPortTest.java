package io.tutti.service.rest;

import io.tutti.service.TuttiApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/** An actuator on a port of its own, with something that writes. */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.security.token=open sesame", "tutti.http.port=0",
				"management.server.port=0", "management.server.address=127.0.0.1",
				"management.endpoints.web.exposure.include=health,loggers" })
@Import(FormedRank.class)
class ManagementPortTest {

	@Value("${local.management.port}")
	private int port;

	@Test
	void whatChangesSomethingNeedsTheTokenThereToo() {
		assertThat(setLevel(null)).isEqualTo(HttpStatus.UNAUTHORIZED);
		assertThat(setLevel("Bearer open sesam")).isEqualTo(HttpStatus.FORBIDDEN);
		assertThat(setLevel("Bearer open sesame")).isEqualTo(HttpStatus.NO_CONTENT);
	}

	@Test
	void lookingNeedsNone() {
		HttpStatusCode status = client().get()
			.uri("/actuator/health/liveness")
			.exchange((request, response) -> response.getStatusCode());
		assertThat(status).isEqualTo(HttpStatus.OK);
	}

	private HttpStatusCode setLevel(String authorization) {
		return client().post()
			.uri("/actuator/loggers/io.tutti.nothing")
			.contentType(MediaType.APPLICATION_JSON)
			.headers((headers) -> {
				if (authorization != null) {
					headers.set("Authorization", authorization);
				}
			})
			.body("{\"configuredLevel\":\"DEBUG\"}")
			.exchange((request, response) -> response.getStatusCode());
	}

	private RestClient client() {
		return RestClient.create("http://127.0.0.1:" + this.port);
	}

}
