package io.tutti.engine.control;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.control.ControlMessage.Announce;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.BarrierEnded;
import io.tutti.engine.control.ControlMessage.CallReported;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.Confirmed;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.EnterBarrier;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.Matched;
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
import io.tutti.engine.control.ControlMessage.RequestDrain;
import io.tutti.engine.control.ControlMessage.RollCall;
import io.tutti.engine.control.ControlMessage.RollCallReply;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.MemoryKind;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes control messages. A frame is its length (4 bytes), the type (1
 * byte) and the fields. The start of a hello (magic, version) and a refusal keep their
 * layout in every version, so that processes of two versions can report the difference.
 */
public final class MessageCodec {

	/** Random bytes that each side contributes; as many as a proof has. */
	public static final int NONCE_BYTES = 32;

	public static final int VERSION = 4;

	/** "TUTI" in ASCII. */
	public static final int MAGIC = 0x54555449;

	private static final byte HELLO = 1;

	/** Purpose of a connection to rank 0. */
	private static final byte CONTROL = 0;

	/** Purpose of a data connection. */
	private static final byte DATA = 1;

	private static final byte CHALLENGE = 2;

	private static final byte PROOF = 3;

	private static final byte WELCOME = 4;

	private static final byte REFUSED = 5;

	private static final byte AWAITING = 6;

	private static final byte ROSTER = 7;

	private static final byte PING = 8;

	private static final byte PONG = 9;

	private static final byte REPORT = 10;

	private static final byte ROLL_CALL_REPLY = 11;

	private static final byte ENTER_BARRIER = 12;

	private static final byte REQUEST_DRAIN = 13;

	private static final byte LEAVE = 14;

	private static final byte VERDICT = 15;

	private static final byte ROLL_CALL = 16;

	private static final byte BARRIER_ENDED = 17;

	private static final byte DRAIN = 18;

	private static final byte PEER_UPDATE = 19;

	private static final byte RANK_ZERO_LEFT = 20;

	private static final byte CALL_REPORTED = 21;

	private static final byte QUERY_CALL = 22;

	private static final byte ANNOUNCE = 23;

	private static final byte MATCHED = 24;

	private static final byte CALLS_REPORTED = 25;

	private static final byte LEFT_GROUP = 26;

	private static final byte DEPARTED = 27;

	private static final byte QUERY_TRACES = 30;

	private static final byte TRACE_REPLY = 31;

	private static final byte QUERY_TRACE = 32;

	private static final byte FORWARDED_TRACE = 33;

	private static final byte WITHDRAW = 34;

	private static final byte CONFIRM = 35;

	private static final byte CONFIRMED = 36;

	/** Minimum size of a call report: group name, call, memory kind, two durations. */
	private static final int LEAST_POST_BYTES = 3 * Integer.BYTES + 4 * Long.BYTES + 4;

	/** Minimum size of a rank and its call. */
	private static final int LEAST_CALL_BYTES = 3 * Integer.BYTES + 2 * Long.BYTES + 3;

	private static final int NO_CONSTANT = -1;

	private MessageCodec() {
	}

	/** Encodes a message as a frame, including the length. */
	public static ByteBuffer encode(ControlMessage message) {
		return switch (message) {
			case Hello hello -> encodeHello(hello);
			case DataHello(String group, long generation, int rank, int acceptor) ->
				hello(DATA).text(group).int64(generation).int32(rank).int32(acceptor).frame();
			case ForeignHello(int version) -> new WireWriter(HELLO).int32(MAGIC).int32(version).frame();
			case Challenge(byte[] nonce) -> new WireWriter(CHALLENGE).raw(nonce).frame();
			case Proof(byte[] nonce, byte[] proof) -> new WireWriter(PROOF).raw(nonce).raw(proof).frame();
			case Welcome(byte[] proof) -> new WireWriter(WELCOME).raw(proof).frame();
			case Refused(var reason, String text) -> new WireWriter(REFUSED).int8(ordinal(reason)).text(text).frame();
			case Awaiting(MissingRanks absence, boolean over) ->
				ranks(ranks(ranks(new WireWriter(AWAITING), absence.missing()), absence.dropped()), absence.left())
					.flag(over)
					.frame();
			case Roster(long generation, byte[] nonce, String conduct, List<PeerAddress> peers) ->
				new WireWriter(ROSTER).int64(generation)
					.raw(nonce)
					.text(conduct)
					.list(peers, MessageCodec::write)
					.frame();
			case Ping(long sent) -> new WireWriter(PING).int64(sent).frame();
			case Pong(long sent, List<RankProgress> progress) ->
				new WireWriter(PONG).int64(sent).list(progress, MessageCodec::write).frame();
			case Report(Failure failure) -> write(new WireWriter(REPORT), failure).frame();
			case RollCallReply(long id, long entered, var members) ->
				ranks(new WireWriter(ROLL_CALL_REPLY).int64(id).int64(entered), members).frame();
			case EnterBarrier(RoundEntry entry) -> write(new WireWriter(ENTER_BARRIER), entry).frame();
			case Announce(RoundEntry entry, CallSignature call) ->
				write(write(new WireWriter(ANNOUNCE), entry), call).frame();
			case Matched(long ticket, CallMatch match) ->
				write(new WireWriter(MATCHED).int64(ticket), match.meeting()).int64(match.order())
					.list(List.copyOf(match.calls().entrySet()), MessageCodec::write)
					.frame();
			case Withdraw(long ticket) -> new WireWriter(WITHDRAW).int64(ticket).frame();
			case LeftGroup(String group, var members, long completed) ->
				ranks(new WireWriter(LEFT_GROUP).text(group), members).int64(completed).frame();
			case Departed(List<Departure> departures) ->
				new WireWriter(DEPARTED).list(departures, MessageCodec::write).frame();
			case Confirm(long ticket, int attempt) -> new WireWriter(CONFIRM).int64(ticket).int32(attempt).frame();
			case Confirmed(long ticket, int attempt) -> new WireWriter(CONFIRMED).int64(ticket).int32(attempt).frame();
			case RequestDrain(String reason) -> new WireWriter(REQUEST_DRAIN).text(reason).frame();
			case Leave(var cutOff) -> new WireWriter(LEAVE).optionalText(cutOff).frame();
			case Verdict(Failure failure) -> write(new WireWriter(VERDICT), failure).frame();
			case RollCall(long id, String group) -> new WireWriter(ROLL_CALL).int64(id).text(group).frame();
			case BarrierEnded(long ticket, BarrierOutcome outcome) ->
				write(new WireWriter(BARRIER_ENDED).int64(ticket), outcome).frame();
			case Drain(String reason) -> new WireWriter(DRAIN).text(reason).frame();
			case PeerUpdate(List<PeerLiveness> peerUpdate) ->
				new WireWriter(PEER_UPDATE).list(peerUpdate, MessageCodec::write).frame();
			case RankZeroLeft() -> new WireWriter(RANK_ZERO_LEFT).frame();
			case CallReported(CallReport post) -> write(new WireWriter(CALL_REPORTED), post).frame();
			case CallsReported(List<CallReport> posts) ->
				new WireWriter(CALLS_REPORTED).list(posts, MessageCodec::write).frame();
			case QueryCall(String group, long sequence) ->
				new WireWriter(QUERY_CALL).text(group).int64(sequence).frame();
			case QueryTraces(long ticket, int limit) -> new WireWriter(QUERY_TRACES).int64(ticket).int32(limit).frame();
			case TraceReply(int asker, long ticket, byte[] account) ->
				new WireWriter(TRACE_REPLY).int32(asker).int64(ticket).bytes(account).frame();
			case QueryTrace(int asker, long ticket, int limit) ->
				new WireWriter(QUERY_TRACE).int32(asker).int64(ticket).int32(limit).frame();
			case ForwardedTrace(long ticket, int rank, byte[] account) ->
				new WireWriter(FORWARDED_TRACE).int64(ticket).int32(rank).bytes(account).frame();
		};
	}

	/**
	 * Decodes the message of a frame.
	 * @param payload the frame without its length
	 * @throws MalformedFrameException if the bytes are not a valid message
	 */
	public static ControlMessage decode(ByteBuffer payload) throws MalformedFrameException {
		WireReader in = new WireReader(payload);
		int type = in.int8();
		ControlMessage message = switch (type) {
			case HELLO -> decodeHello(in, payload);
			case CHALLENGE -> new Challenge(in.raw(NONCE_BYTES));
			case PROOF -> new Proof(in.raw(NONCE_BYTES), in.raw(SessionKey.PROOF_BYTES));
			case WELCOME -> new Welcome(in.raw(SessionKey.PROOF_BYTES));
			case REFUSED -> new Refused(reason(in.int8()), in.text());
			case AWAITING -> new Awaiting(new MissingRanks(ranks(in), ranks(in), ranks(in)), in.flag());
			case ROSTER -> decodeRoster(in);
			case PING -> new Ping(in.int64());
			case PONG -> new Pong(in.int64(), in.list(Integer.BYTES + Long.BYTES, () -> progress(in)));
			case REPORT -> new Report(failure(in));
			case ROLL_CALL_REPLY -> new RollCallReply(in.int64(), in.int64(), ranks(in));
			case ENTER_BARRIER -> new EnterBarrier(entry(in));
			case ANNOUNCE -> new Announce(entry(in), signature(in));
			case MATCHED -> matched(in);
			case WITHDRAW -> new Withdraw(in.int64());
			case LEFT_GROUP -> new LeftGroup(in.text(), ranks(in), in.int64());
			case DEPARTED -> new Departed(in.list(2 * Integer.BYTES + Long.BYTES, () -> departure(in)));
			case CONFIRM -> new Confirm(in.int64(), in.int32());
			case CONFIRMED -> new Confirmed(in.int64(), in.int32());
			case REQUEST_DRAIN -> new RequestDrain(in.text());
			case LEAVE -> new Leave(in.optionalText());
			case VERDICT -> new Verdict(failure(in));
			case ROLL_CALL -> new RollCall(in.int64(), in.text());
			case BARRIER_ENDED -> new BarrierEnded(in.int64(), outcome(in));
			case DRAIN -> new Drain(in.text());
			case PEER_UPDATE -> new PeerUpdate(in.list(1 + 2 * Integer.BYTES, () -> peer(in)));
			case RANK_ZERO_LEFT -> new RankZeroLeft();
			case CALL_REPORTED -> new CallReported(post(in));
			case CALLS_REPORTED -> new CallsReported(in.list(LEAST_POST_BYTES, () -> post(in)));
			case QUERY_CALL -> new QueryCall(in.text(), in.int64());
			case QUERY_TRACES -> new QueryTraces(in.int64(), in.int32());
			case TRACE_REPLY -> new TraceReply(in.int32(), in.int64(), in.bytes());
			case QUERY_TRACE -> new QueryTrace(in.int32(), in.int64(), in.int32());
			case FORWARDED_TRACE -> new ForwardedTrace(in.int64(), in.int32(), in.bytes());
			default -> throw new MalformedFrameException("no message has type " + type);
		};
		in.end();
		return message;
	}

	private static ByteBuffer encodeHello(Hello hello) {
		return hello(CONTROL).text(hello.jobId())
			.int64(hello.generation())
			.int32(hello.rank())
			.int32(hello.worldSize())
			.text(hello.host())
			.flag(hello.hostChosen())
			.int32(hello.dataPort())
			.text(hello.hostIdentity())
			.frame();
	}

	private static WireWriter hello(byte purpose) {
		return new WireWriter(HELLO).int32(MAGIC).int32(VERSION).int8(purpose);
	}

	private static ControlMessage decodeHello(WireReader in, ByteBuffer payload) throws MalformedFrameException {
		int magic = in.int32();
		if (magic != MAGIC) {
			throw new MalformedFrameException("not Tutti's magic: 0x" + Integer.toHexString(magic));
		}
		int version = in.int32();
		if (version != VERSION) {
			payload.position(payload.limit());
			return new ForeignHello(version);
		}
		int purpose = in.int8();
		return switch (purpose) {
			case CONTROL ->
				new Hello(in.text(), in.int64(), in.int32(), in.int32(), in.text(), in.flag(), in.int32(), in.text());
			case DATA -> new DataHello(in.text(), in.int64(), in.int32(), in.int32());
			default -> throw new MalformedFrameException("no connection has purpose " + purpose);
		};
	}

	private static Roster decodeRoster(WireReader in) throws MalformedFrameException {
		return new Roster(in.int64(), in.raw(NONCE_BYTES), in.text(), in.list(4 * Integer.BYTES, () -> address(in)));
	}

	private static WireWriter write(WireWriter out, RoundEntry entry) {
		return out.int64(entry.ticket())
			.text(entry.label())
			.int64(entry.round())
			.flag(entry.tentative())
			.int64(entry.timeoutNanos());
	}

	private static RoundEntry entry(WireReader in) throws MalformedFrameException {
		RoundEntry entry = new RoundEntry(in.int64(), in.text(), in.int64(), in.flag(), in.int64());
		int characters = entry.label().length();
		if (characters < 1 || characters > ControlPlane.MAX_LABEL_CHARACTERS || entry.round() < RoundWait.NEXT
				|| entry.timeoutNanos() <= 0) {
			throw new MalformedFrameException("a barrier with a label of " + characters + " characters, round "
					+ entry.round() + " and a timeout of " + entry.timeoutNanos() + " ns");
		}
		return entry;
	}

	private static Matched matched(WireReader in) throws MalformedFrameException {
		long ticket = in.int64();
		BarrierOutcome meeting = outcome(in);
		long order = in.int64();
		Map<Integer, CallSignature> calls = new HashMap<>();
		for (Map.Entry<Integer, CallSignature> call : in.list(LEAST_CALL_BYTES,
				() -> Map.entry(in.int32(), signature(in)))) {
			calls.put(call.getKey(), call.getValue());
		}
		return new Matched(ticket, new CallMatch(meeting, order, calls));
	}

	private static void write(WireWriter out, Map.Entry<Integer, CallSignature> call) {
		write(out.int32(call.getKey()), call.getValue());
	}

	private static void write(WireWriter out, PeerAddress address) {
		out.int32(address.rank()).text(address.host()).int32(address.port()).text(address.hostIdentity());
	}

	private static PeerAddress address(WireReader in) throws MalformedFrameException {
		return new PeerAddress(in.int32(), in.text(), in.int32(), in.text());
	}

	private static void write(WireWriter out, RankProgress progress) {
		out.text(progress.group()).int64(progress.lastEntered());
	}

	private static RankProgress progress(WireReader in) throws MalformedFrameException {
		return new RankProgress(in.text(), in.int64());
	}

	private static void write(WireWriter out, Departure departure) {
		out.int32(departure.rank()).text(departure.group()).int64(departure.lastCompleted());
	}

	private static Departure departure(WireReader in) throws MalformedFrameException {
		return new Departure(in.int32(), in.text(), in.int64());
	}

	private static void write(WireWriter out, PeerLiveness peer) {
		out.int8(peer.state().ordinal()).int32(peer.lastSeenMillis()).int32(peer.roundTripMicros());
	}

	private static PeerLiveness peer(WireReader in) throws MalformedFrameException {
		return new PeerLiveness(in.constant(PeerStatus.State.values()), in.int32(), in.int32());
	}

	private static WireWriter write(WireWriter out, Failure failure) {
		out.int8(failure.kind().ordinal())
			.text(failure.group())
			.int64(failure.sequence())
			.int8(ordinal(failure.collective()));
		return ranks(out, failure.ranks()).text(failure.detail())
			.int64(nanos(failure.elapsed()))
			.int64(nanos(failure.timeout()));
	}

	private static Failure failure(WireReader in) throws MalformedFrameException {
		return new Failure(in.constant(Failure.Kind.values()), in.text(), in.int64(), collective(in.int8()), ranks(in),
				in.text(), Duration.ofNanos(in.int64()), Duration.ofNanos(in.int64()));
	}

	private static WireWriter write(WireWriter out, CallReport post) {
		return write(out.text(post.group()), post.call()).int8(post.memory().ordinal())
			.int64(nanos(post.elapsed()))
			.int64(nanos(post.timeout()));
	}

	private static CallReport post(WireReader in) throws MalformedFrameException {
		return new CallReport(in.text(), signature(in), in.constant(MemoryKind.values()), Duration.ofNanos(in.int64()),
				Duration.ofNanos(in.int64()));
	}

	private static WireWriter write(WireWriter out, CallSignature call) {
		return out.int64(call.sequence())
			.int8(call.collective().ordinal())
			.int64(call.count())
			.int32(call.countsDigest())
			.int8(call.type().ordinal())
			.int8(call.op().ordinal())
			.int32(call.root());
	}

	private static CallSignature signature(WireReader in) throws MalformedFrameException {
		return new CallSignature(in.int64(), in.constant(Collective.values()), in.int64(), in.int32(),
				in.constant(DataType.values()), in.constant(ReduceOp.values()), in.int32());
	}

	private static WireWriter write(WireWriter out, BarrierOutcome outcome) {
		out.int8(outcome.result().ordinal())
			.text(outcome.label())
			.int64(outcome.round())
			.int32(outcome.arrived())
			.int64(outcome.waitedMillis())
			.list(outcome.skewMillis(), WireWriter::int64);
		return ranks(out, outcome.missingRanks());
	}

	private static BarrierOutcome outcome(WireReader in) throws MalformedFrameException {
		return new BarrierOutcome(in.constant(BarrierOutcome.Result.values()), in.text(), in.int64(), in.int32(),
				in.int64(), in.list(Long.BYTES, in::int64), ranks(in));
	}

	private static WireWriter ranks(WireWriter out, List<Integer> ranks) {
		return out.list(ranks, WireWriter::int32);
	}

	private static List<Integer> ranks(WireReader in) throws MalformedFrameException {
		return in.list(Integer.BYTES, in::int32);
	}

	private static int ordinal(@Nullable Enum<?> constant) {
		return (constant != null) ? constant.ordinal() : NO_CONSTANT;
	}

	private static RendezvousException.@Nullable Reason reason(int ordinal) throws MalformedFrameException {
		RendezvousException.Reason[] reasons = RendezvousException.Reason.values();
		if (ordinal == NO_CONSTANT) {
			return null;
		}
		if (ordinal < 0 || ordinal >= reasons.length) {
			throw new MalformedFrameException("no refusal has reason " + ordinal);
		}
		return reasons[ordinal];
	}

	private static @Nullable Collective collective(int ordinal) throws MalformedFrameException {
		try {
			return (ordinal == NO_CONSTANT) ? null : Collective.ofOrdinal(ordinal);
		}
		catch (IllegalArgumentException ex) {
			throw new MalformedFrameException(ex.getMessage());
		}
	}

	private static long nanos(Duration duration) {
		try {
			return duration.toNanos();
		}
		catch (ArithmeticException ex) {
			return Long.MAX_VALUE;
		}
	}

}
