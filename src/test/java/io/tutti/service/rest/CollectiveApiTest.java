package io.tutti.service.rest;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

import io.tutti.service.TuttiApplication;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The responses and refusals of collectives in a real group of one rank.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { "tutti.rank=0", "tutti.world-size=1", "tutti.http-collectives.max-bytes=64B" })
@AutoConfigureMockMvc
class CollectiveApiTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private GroupLifecycle group;

	@BeforeEach
	void form() {
		this.group.formed().orTimeout(30, TimeUnit.SECONDS).join();
	}

	@ParameterizedTest
	@ValueSource(strings = { "all-reduce?op=max", "broadcast?root=0", "reduce?op=sum&root=0", "all-gather",
			"reduce-scatter?dtype=float32", "gather?root=0&label=x", "scatter?timeoutMs=1000", "all-to-all",
			"scan?op=product" })
	void withOneRankEveryCollectiveReturnsItsOwnBytes(String call) {
		byte[] floats = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putFloat(1.5f).putFloat(-2).array();
		assertThat(post(call, floats)).hasStatusOk()
			.hasContentType(MediaType.APPLICATION_OCTET_STREAM)
			.body()
			.isEqualTo(floats);
	}

	@Test
	void aBarrierAndACallWithoutElementsReturnNoBytes() {
		assertThat(post("barrier", new byte[0])).hasStatusOk().body().isEmpty();
		assertThat(post("all-reduce", new byte[0])).hasStatusOk().body().isEmpty();
		assertThat(post("exclusive-scan", new byte[8])).hasStatusOk().body().isEmpty();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			all-reduce?dtype=float31          | 8  | dtype must be one of float32
			all-reduce?op=xor                 | 8  | op must be one of sum
			all-reduce?root=0                 | 8  | all-reduce has no root
			scan?op=average                   | 8  | scan has no op average
			exclusive-scan?root=0             | 8  | exclusive-scan has no root
			all-gather?op=sum                 | 8  | all-gather has no op
			broadcast?root=1                  | 8  | root must be in 0..0, got 1
			broadcast?root=-1                 | 8  | root must be in 0..0, got -1
			broadcast?root=zero               | 8  | root must be a whole number
			all-reduce?timeoutMs=0            | 8  | 1..86400000, got 0
			all-reduce?round=-1               | 8  | round must be in 0..9007199254740991, got -1
			all-reduce?round=seven            | 8  | round must be a whole number
			all-reduce?label=                 | 8  | label must have
			all-reduce?size=3                 | 8  | unknown parameter size
			all-reduce                        | 7  | a multiple of 4 bytes, got 7
			all-reduce?dtype=int64            | 12 | a multiple of 8 bytes, got 12
			barrier                           | 1  | takes an empty body
			everything                        | 8  | collective must be one of all-reduce
			""")
	void anInvalidArgumentIsRefusedByName(String call, int bytes, String detail) {
		assertThat(post(call, new byte[bytes])).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.contains(detail)
			.contains("urn:tutti:problem:invalid-argument");
	}

	@Test
	void aBodyBeyondTheLimitIsTooLarge() {
		assertThat(post("all-reduce", new byte[64])).hasStatusOk();
		assertThat(post("all-reduce", new byte[68])).hasStatus(HttpStatus.CONTENT_TOO_LARGE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.contains("tutti.http-collectives.max-bytes");
	}

	@Test
	void onlyOctetStreamsAreAccepted() {
		assertThat(this.http.post()
			.uri("/api/v1/collectives/all-reduce")
			.contentType(MediaType.APPLICATION_FORM_URLENCODED)
			.content("a=b")).hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
	}

	private MvcTestResult post(String call, byte[] body) {
		return this.http.post()
			.uri("/api/v1/collectives/" + call)
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(body)
			.exchange();
	}

}
