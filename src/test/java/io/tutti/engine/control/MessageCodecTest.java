package io.tutti.engine.control;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.control.CallMatch.Announced;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.PeerUpdate;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.MemoryKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class MessageCodecTest {

	private static final Random RANDOM = new Random(7);

	private static final int LAYOUT_HASH = 1_399_788_042;

	static Stream<ControlMessage> messages() {
		Failure inside = new Failure(Failure.Kind.TIMEOUT, "world", 17, Collective.BARRIER, List.of(2, 3), "späť",
				Duration.ofMillis(1234), Duration.ofSeconds(5));
		Failure outside = Failure.outside(Failure.Kind.ABORTED, "side", List.of(), "");
		BarrierOutcome outcome = new BarrierOutcome(BarrierOutcome.Result.BROKEN, "epoch", 9, 2, 55,
				List.of(0L, -1L, 4L), List.of(1));
		CallReport post = new CallReport("side",
				new CallSignature(8, Collective.ALL_TO_ALL, Long.MAX_VALUE, -3, DataType.INT64, ReduceOp.AVERAGE, 5),
				MemoryKind.DEVICE, Duration.ofMillis(103), Duration.ofDays(1));
		return Stream.of(new Hello("job", -1, 3, 8, "::1", true, 29501, "boot/host"), new DataHello("side", 4, 2, 1),
				new FormationHello("job", 2, "0a1b"), new ForeignHello(MessageCodec.VERSION + 1),
				new Challenge(bytes()), new Proof(bytes(), bytes()), new Welcome(bytes()),
				new Refused(RendezvousException.Reason.JOB, "no"), new Refused(null, "later"),
				new Awaiting(new MissingRanks(List.of(1, 2, 3), List.of(2), List.of(3)), true),
				new Roster(3, bytes(), "transport=auto",
						List.of(new PeerAddress(0, "", 1, "h"), new PeerAddress(1, "10.0.0.1", 65535, ""))),
				new Ping(Long.MIN_VALUE),
				new Pong(Long.MAX_VALUE, List.of(new RankProgress("world", -1), new RankProgress("", Long.MAX_VALUE))),
				new Report(inside), new Report(outside), new ProgressReply(1, -1, false, List.of()),
				new LeftGroup("side", List.of(1, 3), -1, null), new LeftGroup("world", List.of(), 4, post),
				new Departed(List.of(new Departure(3, "side", 7), Departure.fromEveryGroup(1))),
				new ProgressReply(2, 7, true, List.of(1, 3)), new EnterRound(4, "label", -1, false, 1, null),
				new Withdraw(4), new Confirm(4, 2), Leave.inOrder(), new Leave("silent", true), new Verdict(inside),
				new QueryProgress(1, "world"), new RoundEnded(3, CallMatch.none(outcome)), new Drain("now"),
				new PeerUpdate(List.of(new PeerLiveness(PeerStatus.State.LEFT, -1, 12))), new RankZeroLeft(null),
				new RankZeroLeft(post), new CallsReported(List.of(post), true), new CallsReported(List.of(), false),
				new QueryCall("world", Long.MAX_VALUE), new QueryTraces(5, 100), new TraceReply(2, 5, bytes()),
				new EnterRound(6, "label", 7, true, 1, post.call()),
				new RoundEnded(6,
						new CallMatch(outcome, 12,
								List.of(new Announced(0, post.call()), new Announced(2, post.call().withCount(-1))))),
				new QueryTrace(2, 5, 100), new ForwardedTrace(5, 1, bytes()));
	}

	private static byte[] bytes() {
		byte[] bytes = new byte[32];
		RANDOM.nextBytes(bytes);
		return bytes;
	}

	@ParameterizedTest
	@MethodSource("messages")
	void aDecodedMessageEqualsTheOriginal(ControlMessage message) throws MalformedFrameException {
		ByteBuffer frame = MessageCodec.encode(message);
		assertThat(frame.getInt()).isEqualTo(frame.remaining());
		assertThat(MessageCodec.decode(frame)).usingRecursiveComparison().isEqualTo(message);
	}

	@ParameterizedTest
	@MethodSource("messages")
	void aTruncatedMessageIsMalformed(ControlMessage message) {
		byte[] payload = payload(message);
		for (int length = 0; length < payload.length; length++) {
			ByteBuffer part = ByteBuffer.wrap(payload, 0, length).slice();
			assertThatThrownBy(() -> MessageCodec.decode(part)).isInstanceOf(MalformedFrameException.class);
		}
	}

	@ParameterizedTest
	@MethodSource("messages")
	void aMessageWithTrailingBytesIsMalformed(ControlMessage message) {
		byte[] payload = payload(message);
		if (!(message instanceof ForeignHello)) {
			assertThatThrownBy(() -> MessageCodec.decode(ByteBuffer.wrap(Arrays.copyOf(payload, payload.length + 1))))
				.isInstanceOf(MalformedFrameException.class);
		}
	}

	@Test
	void everyMessageTypeIsTested() {
		assertThat(messages().map(Object::getClass).collect(Collectors.toSet()))
			.isEqualTo(records(ControlMessage.class).collect(Collectors.toSet()));
	}

	private static Stream<Class<?>> records(Class<?> type) {
		return type.isRecord() ? Stream.of(type)
				: Arrays.stream(type.getPermittedSubclasses()).flatMap(MessageCodecTest::records);
	}

	@Test
	void damagedMessagesAreValidOrMalformed() {
		List<byte[]> payloads = messages().map(MessageCodecTest::payload).toList();
		int malformed = 0;
		for (int i = 0; i < 200_000; i++) {
			byte[] damaged = payloads.get(RANDOM.nextInt(payloads.size())).clone();
			for (int hits = 1 + RANDOM.nextInt(3); hits > 0; hits--) {
				damaged[RANDOM.nextInt(damaged.length)] = (byte) RANDOM.nextInt();
			}
			malformed += isMalformed(damaged) ? 1 : 0;
		}
		for (int i = 0; i < 200_000; i++) {
			byte[] noise = new byte[RANDOM.nextInt(120)];
			RANDOM.nextBytes(noise);
			if (noise.length > 0) {
				noise[0] = (byte) RANDOM.nextInt(24);
			}
			malformed += isMalformed(noise) ? 1 : 0;
		}
		assertThat(malformed).isBetween(100_000, 399_999);
	}

	private static boolean isMalformed(byte[] payload) {
		try {
			MessageCodec.decode(ByteBuffer.wrap(payload));
			return false;
		}
		catch (MalformedFrameException ex) {
			return true;
		}
	}

	@Test
	void anExcessiveLengthIsMalformed() {
		byte[] drain = payload(new Drain("now"));
		ByteBuffer.wrap(drain).putInt(1, Integer.MAX_VALUE);
		assertThatThrownBy(() -> MessageCodec.decode(ByteBuffer.wrap(drain)))
			.isInstanceOf(MalformedFrameException.class)
			.hasMessageContaining("2147483647");
		byte[] peerUpdate = payload(new PeerUpdate(List.of()));
		ByteBuffer.wrap(peerUpdate).putInt(1, Integer.MAX_VALUE);
		assertThatThrownBy(() -> MessageCodec.decode(ByteBuffer.wrap(peerUpdate)))
			.isInstanceOf(MalformedFrameException.class);
	}

	@Test
	void aBarrierWithInvalidParametersIsMalformed() {
		assertThat(payload(new EnterRound(1, "a", 7, false, 1, null))).isEqualTo(entry("a", 7, 1));
		for (byte[] bad : List.of(entry("", -1, 1), entry("x".repeat(257), -1, 1), entry("a", -1, 0),
				entry("a", -2, 1))) {
			assertThatThrownBy(() -> MessageCodec.decode(ByteBuffer.wrap(bad)))
				.isInstanceOf(MalformedFrameException.class)
				.hasMessageContaining("a barrier with a label of");
		}
	}

	private static byte[] entry(String label, long round, long timeoutNanos) {
		byte type = payload(new EnterRound(1, "a", 7, false, 1, null))[0];
		return ByteBuffer.allocate(31 + label.length())
			.put(type)
			.putLong(1)
			.putInt(label.length())
			.put(label.getBytes(StandardCharsets.US_ASCII))
			.putLong(round)
			.put((byte) 0)
			.putLong(timeoutNanos)
			.put((byte) 0)
			.array();
	}

	@Test
	void aNonceOfAnotherSizeIsMalformed() {
		byte[] challenge = payload(new Challenge(bytes()));
		byte[] shorter = Arrays.copyOf(challenge, challenge.length - 1);
		ByteBuffer.wrap(shorter).putInt(1, 31);
		assertThatThrownBy(() -> MessageCodec.decode(ByteBuffer.wrap(shorter)))
			.isInstanceOf(MalformedFrameException.class)
			.hasMessage("a nonce or proof must have 32 bytes, got 31");
	}

	/** An older process must be able to tell why it was refused. */
	@Test
	void aRefusalKeepsItsLayout() {
		assertThat(payload(new Refused(RendezvousException.Reason.JOB, "no"))).containsExactly(5,
				RendezvousException.Reason.JOB.ordinal(), 0, 0, 0, 2, 'n', 'o');
		assertThat(payload(new Refused(null, ""))).containsExactly(5, -1, 0, 0, 0, 0);
	}

	@Test
	void aChangedLayoutTakesANewVersion() {
		List<String> layout = new ArrayList<>();
		messages().forEach((message) -> {
			layout.add(payload(message)[0] + ":");
			layout(message.getClass(), layout);
		});
		assertThat(Map.of(MessageCodec.VERSION, layout.hashCode()))
			.as("a change of messages takes a new version: change MessageCodec.VERSION, then both numbers")
			.isEqualTo(Map.of(15, LAYOUT_HASH));
	}

	private static void layout(Type type, List<String> layout) {
		if (type instanceof ParameterizedType generic) {
			Arrays.stream(generic.getActualTypeArguments()).forEach((argument) -> layout(argument, layout));
		}
		if (type instanceof Class<?> plain && plain.isEnum()) {
			Arrays.stream(plain.getEnumConstants()).forEach((constant) -> layout.add(((Enum<?>) constant).name()));
		}
		if (type instanceof Class<?> plain && plain.isRecord()) {
			layout.add(plain.getSimpleName());
			for (RecordComponent component : plain.getRecordComponents()) {
				layout.add(component.getGenericType().getTypeName());
				layout(component.getGenericType(), layout);
			}
		}
	}

	@Test
	void longTextsAreTruncated() throws MalformedFrameException {
		Drain drain = (Drain) MessageCodec.decode(ByteBuffer.wrap(payload(new Drain("x".repeat(1_000_000)))));
		assertThat(drain.reason()).hasSize(RecordCodec.MAX_TEXT_CHARACTERS);
	}

	private static byte[] payload(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		byte[] payload = new byte[frame.getInt()];
		frame.get(payload);
		return payload;
	}

}
