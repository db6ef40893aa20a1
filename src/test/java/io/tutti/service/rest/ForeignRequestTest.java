package io.tutti.service.rest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests as a browser sends them for a page of another origin, to a rank without a
 * token. On the configured platform, Spring trusts forwarded headers by default.
 */
@Timeout(120)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "spring.main.cloud-platform=kubernetes",
				"tutti.http.allowed-hosts=rank-1.ranks,*.ranks.ml.svc,192.0.2.9,2001:db8::9" })
@Import(FormedRank.class)
class ForeignRequestTest {

	private static final String FOREIGN_HOST = "Host: rebound.example:%d\r\n";

	private static final String BARRIER = "/api/v1/barrier";

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	@ParameterizedTest
	@ValueSource(strings = { "Origin: http://evil.example", "Origin: null", "Origin: ", "Origin: ://[",
			"Origin: http://127.0.0.1:x", "Origin: http://127.0.0.1:1", "Origin: http://127.0.0.1",
			"Origin: https://127.0.0.1:%d", "Origin: http://localhost:%d", "Origin: http://[::1]:%d",
			"Origin: http://127.0.0.1:%d.evil.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
			"Sec-Fetch-Site: cross-site\r\nOrigin: http://127.0.0.1:%d",
			"Sec-Fetch-Site: same-origin\r\nOrigin: http://evil.example",
			"Origin: https://127.0.0.1:%d\r\nX-Forwarded-Proto: https",
			"Origin: http://evil.example\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Port: 80",
			"Origin: http://evil.example\r\nForwarded: host=evil.example" })
	void noPageOfAnotherOriginChangesAnything(String headers) throws Exception {
		refuseEveryChange(ownHost() + headers.formatted(this.port) + "\r\n");
	}

	@ParameterizedTest
	@ValueSource(strings = { "rebound.example:%d", "rebound.example", "localhost.evil.example:%d",
			"127.0.0.1.evil.example:%d", "192.0.2.1:%d", "[2001:db8::1]:%d", "ranks.ml.svc", "rank-1.ranks.evil",
			"a.b.ranks.ml.svc.evil", "evilranks.ml.svc", "" })
	void readsAndChangesUnderAForeignHostAreRefused(String host) throws Exception {
		String foreign = "Host: " + host.formatted(this.port) + "\r\n";
		refuseEveryChange(foreign);
		refuseEveryChange(foreign + "Origin: http://" + host.formatted(this.port) + "\r\n");
		refuseEveryChange(foreign + "X-Forwarded-Host: localhost\r\nForwarded: host=localhost\r\n");
		for (String path : List.of("/", "/page/page.js", "/page/events", "/api/v1/group", "/api/v1/flight-recorder",
				"/actuator", "/actuator/health", "/actuator/prometheus", "/actuator/info", "/v3/api-docs",
				"/no/such/path")) {
			assertRefused(send("GET", path, foreign, ""), "GET " + path);
		}
	}

	/** A wrong host name must not get a rank killed. */
	@ParameterizedTest
	@ValueSource(strings = { "/actuator/health/liveness", "/actuator/health/readiness" })
	void probesAreAnsweredUnderAnyHost(String path) throws Exception {
		assertThat(send("GET", path, FOREIGN_HOST.formatted(this.port), "").status()).isEqualTo(200);
		assertRefused(send("POST", path, FOREIGN_HOST.formatted(this.port), "{}"), "POST " + path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1:%d", "127.0.0.1", "localhost:%d", "localhost:1", "localhost.:%d", "[::1]:%d",
			"127.1.2.3", "rank-1.ranks:8080", "rank-0.ranks.ml.svc", "a.rank-0.ranks.ml.svc.:80", "192.0.2.9:80",
			"[2001:db8:0::9]" })
	void ownAndConfiguredHostsAreServed(String host) throws Exception {
		passBarriers();
		String name = host.formatted(this.port);
		String own = "Host: " + name + "\r\n";
		assertThat(send("GET", "/api/v1/group", own, "").status()).isEqualTo(200);
		assertThat(barrier(own).status()).as("without an origin, as curl").isEqualTo(200);
		assertThat(barrier(own + "Origin: http://" + name + "\r\nSec-Fetch-Site: same-origin\r\n").status())
			.as("its own page")
			.isEqualTo(200);
		assertThat(barrier(own + "Sec-Fetch-Site: none\r\n").status()).isEqualTo(200);
	}

	@Test
	void aPageOfAnotherOriginMayLinkToThePage() throws Exception {
		assertThat(send("GET", "/", ownHost() + "Sec-Fetch-Site: cross-site\r\n", "").status()).isEqualTo(200);
	}

	@Test
	void forwardedHeadersAreNotTrustedUnlessThatIsConfigured() throws Exception {
		passBarriers();
		assertThat(barrier(ownHost() + "X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n").status())
			.isEqualTo(200);
	}

	/** Some health checkers use HTTP/1.0 without a host, which no browser does. */
	@Test
	void aRequestThatNamesNoHostIsNotForeign() throws Exception {
		byte[] request = "GET /api/v1/group HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);
		assertThat(new RawHttp(this.port).send(request).status()).isEqualTo(200);
	}

	@Test
	void theProblemSaysWhatToDo() throws Exception {
		assertThat(barrier(FOREIGN_HOST.formatted(this.port)).body())
			.contains("rebound.example is not a name or address of this rank")
			.contains("tutti.http.allowed-hosts");
		assertThat(barrier(ownHost() + "Origin: http://evil.example\r\n").body()).contains("http://evil.example")
			.contains("from a program");
	}

	private void refuseEveryChange(String headers) throws Exception {
		int aborts = this.group.aborts().size();
		this.group.onBarrier((label, timeout) -> {
			throw new AssertionError("a foreign request was carried out");
		});
		List<DescribedRank.Described> changes = DescribedRank.operations(this.port)
			.stream()
			.filter(DescribedRank.Described::changes)
			.toList();
		assertThat(changes).isNotEmpty();
		for (DescribedRank.Described change : changes) {
			String body = change.path().contains("collectives") ? "abcd" : "{\"label\":\"x\",\"reason\":\"x\"}";
			assertRefused(send("POST", change.concretePath(), headers, body), change + " " + headers);
		}
		for (String method : List.of("PUT", "PATCH", "DELETE", "FROB")) {
			assertRefused(send(method, "/api/v1/control/abort", headers, "{}"), method + " " + headers);
		}
		assertThat(this.group.aborts()).hasSize(aborts);
	}

	private static void assertRefused(RawHttp.Answer answer, String request) {
		assertThat(answer.status()).as(request + ": " + answer.body()).isEqualTo(403);
		assertThat(answer.header("Content-Type")).as(request).startsWith("application/problem+json");
		assertThat(answer.body()).as(request).contains("urn:tutti:problem:auth-failed", "\"hint\"", "\"rank\":1");
		assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
	}

	private void passBarriers() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0,
				List.of(0L, 0L, 0L), List.of()));
	}

	private String ownHost() {
		return "Host: 127.0.0.1:" + this.port + "\r\n";
	}

	private RawHttp.Answer barrier(String headers) throws IOException {
		return send("POST", BARRIER, headers + "Content-Type: application/json\r\n", "{\"label\":\"x\"}");
	}

	/** Like a Blob without a type, the request has no content type. */
	private RawHttp.Answer send(String method, String path, String headers, String body) throws IOException {
		String request = method + " " + path + " HTTP/1.1\r\n" + headers + "Connection: close\r\n"
				+ (body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n") + "\r\n" + body;
		return new RawHttp(this.port).send(request.getBytes(StandardCharsets.ISO_8859_1));
	}

}
