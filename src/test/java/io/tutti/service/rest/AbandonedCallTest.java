package io.tutti.service.rest;

import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.spi.CallSignature;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
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
 * Clients of rank 1 that disconnect and retry, with ranks 0 and 2 on a control plane
 * within this process. No data moves: an all-reduce returns rank 1's own bytes.
 */
@Timeout(120)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.http-collectives.max-bytes=1KB",
				"tutti.http-collectives.memory=2KB" })
@Import(FormedRank.class)
class AbandonedCallTest {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final CallSignature ONE_FLOAT = new CallSignature(0, Collective.ALL_REDUCE, 1, 0, DataType.FLOAT32,
			ReduceOp.SUM, 0);

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	/**
	 * Shared by all tests, since the numbers of calls continue while the application
	 * runs.
	 */
	private static final List<ControlPlane> RANKS = new ArrayList<>();

	@BeforeAll
	static void joinRanks() {
		SimulatedControl world = new SimulatedControl(3);
		for (int rank = 0; rank < 3; rank++) {
			RANKS.add(world.join(rank, new RecordedControlEvents()));
		}
	}

	@AfterAll
	static void leave() {
		RANKS.forEach(ControlPlane::close);
		RANKS.clear();
	}

	@BeforeEach
	void beRankOne() {
		this.group.onControl(RANKS.get(1));
		this.group.onBeside(new IdleBackend("tcp"));
	}

	/**
	 * The connection is closed before the other ranks arrive, with no probe in between.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "", "Transfer-Encoding: chunked\r\n" })
	void anAbandonedBarrierCallIsNotCountedAndTheNextTakesItsPlace(String headers) throws Exception {
		String label = "ghost" + headers.length();
		try (Socket ghost = http().open()) {
			ghost.getOutputStream().write(barrier(label, headers));
			awaitArrival();
		}
		CompletableFuture<BarrierOutcome> zero = onThread(() -> RANKS.get(0).barrier(label, LONG));
		CompletableFuture<BarrierOutcome> two = onThread(() -> RANKS.get(2).barrier(label, LONG));
		RawHttp.Answer answer = http().send(barrier(label, headers));
		assertThat(answer.status()).as(answer.body()).isEqualTo(200);
		assertThat(answer.body()).contains("\"round\":0");
		assertThat(zero.get(LONG.toSeconds(), TimeUnit.SECONDS).round()).isZero();
		assertThat(two.get(LONG.toSeconds(), TimeUnit.SECONDS).result()).isEqualTo(BarrierOutcome.Result.PASSED);
	}

	@Test
	void aHalfClosedClientReceivesTheWithdrawal() throws Exception {
		try (Socket half = http().open()) {
			half.getOutputStream().write(barrier("half", ""));
			half.shutdownOutput();
			RawHttp.Answer answer = RawHttp.read(half);
			assertThat(answer.status()).isEqualTo(409);
			assertThat(answer.body()).contains("urn:tutti:problem:call-withdrawn");
		}
	}

	@Test
	void aClientThatPipelinesItsNextRequestIsCounted() throws Exception {
		try (Socket pipelining = http().open()) {
			byte[] first = new String(barrier("pipelined", ""), StandardCharsets.US_ASCII)
				.replace("Connection: close\r\n", "")
				.getBytes(StandardCharsets.US_ASCII);
			pipelining.getOutputStream().write(first);
			pipelining.getOutputStream().write(BadRequests.get("/api/v1/group"));
			awaitArrival();
			onThread(() -> RANKS.get(0).barrier("pipelined", LONG));
			assertThat(RANKS.get(2).barrier("pipelined", LONG).result()).isEqualTo(BarrierOutcome.Result.PASSED);
			String answers = new String(pipelining.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(answers).contains("\"arrived\":3").contains("\"state\":\"READY\"");
		}
	}

	@Test
	void anAbandonedCollectiveLeavesItsRoundAndTheNextBodyCounts() throws Exception {
		try (Socket ghost = http().open()) {
			ghost.getOutputStream().write(allReduce("label=ghost", "1000"));
			awaitArrival();
		}
		List<CompletableFuture<CallMatch>> others = others("ghost", RoundWait.NEXT);
		RawHttp.Answer answer = http().send(allReduce("label=ghost", "1111"));
		assertThat(answer.status()).as(answer.body()).isEqualTo(200);
		assertThat(answer.body()).isEqualTo("1111");
		assertMatched(others);
	}

	@Test
	void aRepeatedRoundGetsTheSameAnswerWithoutTheOtherRanks() throws Exception {
		List<CompletableFuture<CallMatch>> others = others("steps", 5);
		byte[] request = allReduce("label=steps&round=5", "abcd");
		assertThat(http().send(request).body()).isEqualTo("abcd");
		assertMatched(others);
		assertThat(http().send(request).body()).isEqualTo("abcd");
		assertConflict("label=steps&round=5", "efgh", "other parameters or another body");
		assertConflict("label=steps&round=5&op=max", "abcd", "other parameters or another body");
		assertConflict("label=steps&round=4", "abcd", "round 4 of label steps is over");
	}

	@Test
	void aRoundOfALostClientIsRepeatedOnTheNextConnection() throws Exception {
		byte[] request = allReduce("label=retry&round=0", "abcd");
		try (Socket lost = http().open()) {
			lost.getOutputStream().write(request);
			awaitArrival();
		}
		CompletableFuture<RawHttp.Answer> repeat = onThread(() -> send(request));
		List<CompletableFuture<CallMatch>> others = others("retry", 0);
		assertThat(repeat.get(LONG.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo("abcd");
		assertMatched(others);
	}

	@Test
	void aNamedRoundOnlyMatchesTheSameRoundOfOtherRanks() throws Exception {
		CompletableFuture<RawHttp.Answer> six = onThread(
				() -> send(allReduce("label=apart&round=6&timeoutMs=1500", "abcd")));
		List<CompletableFuture<CallMatch>> others = others("apart", 5);
		RawHttp.Answer answer = six.get(LONG.toSeconds(), TimeUnit.SECONDS);
		assertThat(answer.status()).isEqualTo(504);
		assertThat(answer.body()).contains("\"missingRanks\":[0,2]", "\"round\":6");
		assertThat(others).noneMatch(CompletableFuture::isDone);
		assertThat(send(allReduce("label=apart&round=5", "abcd")).body()).isEqualTo("abcd");
		assertMatched(others);
	}

	@Test
	void aRepeatedBarrierRoundGetsTheSameAnswer() throws Exception {
		onThread(() -> RANKS.get(0).barrier(new RoundWait("named", 9, LONG, null)));
		onThread(() -> RANKS.get(2).barrier(new RoundWait("named", 9, LONG, null)));
		byte[] request = BadRequests.post("/api/v1/barrier",
				"{\"label\":\"named\",\"round\":9}".getBytes(StandardCharsets.US_ASCII));
		RawHttp.Answer first = http().send(request);
		assertThat(first.status()).as(first.body()).isEqualTo(200);
		assertThat(first.body()).contains("\"round\":9");
		assertThat(http().send(request).body()).isEqualTo(first.body());
		assertThat(http()
			.send(BadRequests.post("/api/v1/barrier",
					"{\"label\":\"named\",\"round\":8}".getBytes(StandardCharsets.US_ASCII)))
			.status()).isEqualTo(409);
	}

	/** A second call of the largest size gets no memory while the first waits. */
	@Test
	void aCallBeyondTheBudgetIsRefusedBeforeItsBodyIsRead() throws Exception {
		String large = "x".repeat(1024);
		CompletableFuture<RawHttp.Answer> first = onThread(() -> send(allReduce("label=large", large)));
		awaitArrival();
		byte[] second = allReduce("label=large&timeoutMs=200", large);
		try (Socket withoutBody = http().open()) {
			withoutBody.getOutputStream().write(second, 0, second.length - large.length());
			Awaitility.await().atMost(LONG).until(() -> withoutBody.getInputStream().available() > 0);
			// Otherwise the server waits for the body before it closes the connection.
			withoutBody.shutdownOutput();
			RawHttp.Answer refused = RawHttp.read(withoutBody);
			assertThat(refused.status()).as(refused.body()).isEqualTo(503);
			assertThat(refused.header("Retry-After")).isEqualTo("5");
			assertThat(refused.body()).contains("urn:tutti:problem:overloaded", "tutti.http-collectives.memory");
		}
		CompletableFuture<RawHttp.Answer> third = onThread(() -> send(allReduce("label=small", "abcd")));
		CallSignature largeCall = ONE_FLOAT.withCount(256);
		onThread(() -> RANKS.get(0).match(RoundWait.next("large", LONG), largeCall));
		RANKS.get(2).match(RoundWait.next("large", LONG), largeCall);
		assertThat(first.get(LONG.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo(large);
		others("small", RoundWait.NEXT);
		assertThat(third.get(LONG.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo("abcd");
	}

	/** The length of its body is unknown until it has arrived. */
	@Test
	void aChunkedCallLeavesMemoryForOthersWhileItWaits() throws Exception {
		byte[] chunked = new String(allReduce("label=chunked", "abcd"), StandardCharsets.US_ASCII)
			.replace("Content-Length: 4\r\n\r\nabcd", "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
			.getBytes(StandardCharsets.US_ASCII);
		CompletableFuture<RawHttp.Answer> first = onThread(() -> send(chunked));
		awaitArrival();
		others("beside", RoundWait.NEXT);
		RawHttp.Answer second = send(allReduce("label=beside", "efgh"));
		assertThat(second.body()).isEqualTo("efgh");
		assertThat(first).isNotDone();
		others("chunked", RoundWait.NEXT);
		assertThat(first.get(LONG.toSeconds(), TimeUnit.SECONDS).body()).isEqualTo("abcd");
	}

	private void assertConflict(String query, String body, String detail) throws Exception {
		RawHttp.Answer answer = http().send(allReduce(query, body));
		assertThat(answer.status()).isEqualTo(409);
		assertThat(answer.body()).contains("urn:tutti:problem:round-conflict", detail);
	}

	private List<CompletableFuture<CallMatch>> others(String label, long round) {
		RoundWait wait = new RoundWait(label, round, LONG, null);
		return List.of(onThread(() -> RANKS.get(0).match(wait, ONE_FLOAT)),
				onThread(() -> RANKS.get(2).match(wait, ONE_FLOAT)));
	}

	private static void assertMatched(List<CompletableFuture<CallMatch>> others) throws Exception {
		for (CompletableFuture<CallMatch> other : others) {
			assertThat(other.get(LONG.toSeconds(), TimeUnit.SECONDS).matched()).isTrue();
		}
	}

	/** Waits until the current request waits for the other ranks. */
	private void awaitArrival() {
		Awaitility.await().atMost(LONG).until(() -> this.group.waits() > 0);
	}

	private RawHttp.Answer send(byte[] request) {
		try {
			return http().send(request);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static byte[] barrier(String label, String headers) {
		String body = "{\"label\":\"" + label + "\"}";
		boolean chunked = !headers.isEmpty();
		return ("POST /api/v1/barrier HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
				+ "Content-Type: application/json\r\n" + headers
				+ (chunked ? "\r\n" + Integer.toHexString(body.length()) + "\r\n" + body + "\r\n0\r\n\r\n"
						: "Content-Length: " + body.length() + "\r\n\r\n" + body))
			.getBytes(StandardCharsets.US_ASCII);
	}

	private static byte[] allReduce(String query, String body) {
		return ("POST /api/v1/collectives/all-reduce?" + query + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
				+ "Content-Type: application/octet-stream\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
			.getBytes(StandardCharsets.US_ASCII);
	}

	private RawHttp http() {
		return new RawHttp(this.port);
	}

	private static <T> CompletableFuture<T> onThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, (run) -> Thread.ofVirtual().start(run));
	}

}
