package io.tutti.engine.rendezvous.wire;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.tutti.engine.CallPost;
import io.tutti.engine.CallSignature;
import io.tutti.engine.Collective;
import io.tutti.engine.DataType;
import io.tutti.engine.Failure;
import io.tutti.engine.MemoryKind;
import io.tutti.engine.ReduceOp;
import io.tutti.engine.rendezvous.BarrierOutcome;
import io.tutti.engine.rendezvous.CallMatch;
import io.tutti.engine.rendezvous.ControlPlane;
import io.tutti.engine.rendezvous.Departure;
import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.rendezvous.PeerStatus;
import io.tutti.engine.rendezvous.Progress;
import io.tutti.engine.rendezvous.RendezvousException;
import io.tutti.engine.rendezvous.RoundWait;
import io.tutti.engine.rendezvous.SessionKey;
import io.tutti.engine.rendezvous.wire.ControlMessage.Account;
import io.tutti.engine.rendezvous.wire.ControlMessage.AccountOf;
import io.tutti.engine.rendezvous.wire.ControlMessage.Announce;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskAccounts;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskCall;
import io.tutti.engine.rendezvous.wire.ControlMessage.AskDrain;
import io.tutti.engine.rendezvous.wire.ControlMessage.Awaiting;
import io.tutti.engine.rendezvous.wire.ControlMessage.BarrierEnded;
import io.tutti.engine.rendezvous.wire.ControlMessage.Challenge;
import io.tutti.engine.rendezvous.wire.ControlMessage.Departed;
import io.tutti.engine.rendezvous.wire.ControlMessage.Confirm;
import io.tutti.engine.rendezvous.wire.ControlMessage.Confirmed;
import io.tutti.engine.rendezvous.wire.ControlMessage.Drain;
import io.tutti.engine.rendezvous.wire.ControlMessage.EnterBarrier;
import io.tutti.engine.rendezvous.wire.ControlMessage.Farewell;
import io.tutti.engine.rendezvous.wire.ControlMessage.ForeignHello;
import io.tutti.engine.rendezvous.wire.ControlMessage.Goodbye;
import io.tutti.engine.rendezvous.wire.ControlMessage.Hello;
import io.tutti.engine.rendezvous.wire.ControlMessage.LeftGroup;
import io.tutti.engine.rendezvous.wire.ControlMessage.Matched;
import io.tutti.engine.rendezvous.wire.ControlMessage.Ping;
import io.tutti.engine.rendezvous.wire.ControlMessage.Pong;
import io.tutti.engine.rendezvous.wire.ControlMessage.Posted;
import io.tutti.engine.rendezvous.wire.ControlMessage.PostedBatch;
import io.tutti.engine.rendezvous.wire.ControlMessage.Proof;
import io.tutti.engine.rendezvous.wire.ControlMessage.Refused;
import io.tutti.engine.rendezvous.wire.ControlMessage.Report;
import io.tutti.engine.rendezvous.wire.ControlMessage.RollAnswer;
import io.tutti.engine.rendezvous.wire.ControlMessage.RollCall;
import io.tutti.engine.rendezvous.wire.ControlMessage.Roster;
import io.tutti.engine.rendezvous.wire.ControlMessage.Sightings;
import io.tutti.engine.rendezvous.wire.ControlMessage.TellAccount;
import io.tutti.engine.rendezvous.wire.ControlMessage.Verdict;
import io.tutti.engine.rendezvous.wire.ControlMessage.Welcome;
import io.tutti.engine.rendezvous.wire.ControlMessage.Withdraw;
import org.jspecify.annotations.Nullable;

/**
 * Messages as bytes. A frame is its length (4 bytes), the type (1 byte) and the fields.
 * The head of a hello (magic, version) and a refusal keep their layout in every version,
 * so that two versions can tell each other what is wrong.
 */
public final class MessageCodec {

	/** Random bytes of either side; as many as a proof has. */
	public static final int NONCE_BYTES = 32;

	public static final int VERSION = 3;

	/** "TUTI" in ASCII. */
	public static final int MAGIC = 0x54555449;

	private static final byte HELLO = 1;

	private static final byte CHALLENGE = 2;

	private static final byte PROOF = 3;

	private static final byte WELCOME = 4;

	private static final byte REFUSED = 5;

	private static final byte AWAITING = 6;

	private static final byte ROSTER = 7;

	private static final byte PING = 8;

	private static final byte PONG = 9;

	private static final byte REPORT = 10;

	private static final byte ROLL_ANSWER = 11;

	private static final byte ENTER_BARRIER = 12;

	private static final byte ASK_DRAIN = 13;

	private static final byte GOODBYE = 14;

	private static final byte VERDICT = 15;

	private static final byte ROLL_CALL = 16;

	private static final byte BARRIER_ENDED = 17;

	private static final byte DRAIN = 18;

	private static final byte SIGHTINGS = 19;

	private static final byte FAREWELL = 20;

	private static final byte POSTED = 21;

	private static final byte ASK_CALL = 22;

	private static final byte ANNOUNCE = 23;

	private static final byte MATCHED = 24;

	private static final byte POSTED_BATCH = 25;

	private static final byte LEFT_GROUP = 26;

	private static final byte DEPARTED = 27;

	private static final byte ASK_ACCOUNTS = 30;

	private static final byte ACCOUNT = 31;

	private static final byte TELL_ACCOUNT = 32;

	private static final byte ACCOUNT_OF = 33;

	private static final byte WITHDRAW = 34;

	private static final byte CONFIRM = 35;

	private static final byte CONFIRMED = 36;

	/** A group's name, its call and two times. */
	private static final int LEAST_POST_BYTES = 3 * Integer.BYTES + 4 * Long.BYTES + 4;

	/** A rank and its call. */
	private static final int LEAST_CALL_BYTES = 3 * Integer.BYTES + 2 * Long.BYTES + 3;

	private static final int NO_CONSTANT = -1;

	private MessageCodec() {
	}

	/** The frame of a message, its length included. */
	public static ByteBuffer encode(ControlMessage message) {
		return switch (message) {
			case Hello hello -> encodeHello(hello);
			case ForeignHello(int version) -> new WireWriter(HELLO).int32(MAGIC).int32(version).frame();
			case Challenge(byte[] nonce) -> new WireWriter(CHALLENGE).raw(nonce).frame();
			case Proof(byte[] proof) -> new WireWriter(PROOF).raw(proof).frame();
			case Welcome(long generation, byte[] proof) -> new WireWriter(WELCOME).int64(generation).raw(proof).frame();
			case Refused(var reason, String text) -> new WireWriter(REFUSED).int8(ordinal(reason)).text(text).frame();
			case Awaiting(Absence absence, boolean over) ->
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
			case Pong(long sent, List<Progress> progress) ->
				new WireWriter(PONG).int64(sent).list(progress, MessageCodec::write).frame();
			case Report(Failure failure) -> write(new WireWriter(REPORT), failure).frame();
			case RollAnswer(long id, long entered, var members) ->
				ranks(new WireWriter(ROLL_ANSWER).int64(id).int64(entered), members).frame();
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
			case AskDrain(String reason) -> new WireWriter(ASK_DRAIN).text(reason).frame();
			case Goodbye(var cutOff) -> new WireWriter(GOODBYE).optionalText(cutOff).frame();
			case Verdict(Failure failure) -> write(new WireWriter(VERDICT), failure).frame();
			case RollCall(long id, String group) -> new WireWriter(ROLL_CALL).int64(id).text(group).frame();
			case BarrierEnded(long ticket, BarrierOutcome outcome) ->
				write(new WireWriter(BARRIER_ENDED).int64(ticket), outcome).frame();
			case Drain(String reason) -> new WireWriter(DRAIN).text(reason).frame();
			case Sightings(List<Sighting> sightings) ->
				new WireWriter(SIGHTINGS).list(sightings, MessageCodec::write).frame();
			case Farewell() -> new WireWriter(FAREWELL).frame();
			case Posted(CallPost post) -> write(new WireWriter(POSTED), post).frame();
			case PostedBatch(List<CallPost> posts) ->
				new WireWriter(POSTED_BATCH).list(posts, MessageCodec::write).frame();
			case AskCall(String group, long sequence) -> new WireWriter(ASK_CALL).text(group).int64(sequence).frame();
			case AskAccounts(long ticket, int limit) -> new WireWriter(ASK_ACCOUNTS).int64(ticket).int32(limit).frame();
			case Account(int asker, long ticket, byte[] account) ->
				new WireWriter(ACCOUNT).int32(asker).int64(ticket).bytes(account).frame();
			case TellAccount(int asker, long ticket, int limit) ->
				new WireWriter(TELL_ACCOUNT).int32(asker).int64(ticket).int32(limit).frame();
			case AccountOf(long ticket, int rank, byte[] account) ->
				new WireWriter(ACCOUNT_OF).int64(ticket).int32(rank).bytes(account).frame();
		};
	}

	/**
	 * The message of a frame.
	 * @param payload the frame without its length
	 * @throws MalformedFrameException if the bytes are no message
	 */
	public static ControlMessage decode(ByteBuffer payload) throws MalformedFrameException {
		WireReader in = new WireReader(payload);
		int type = in.int8();
		ControlMessage message = switch (type) {
			case HELLO -> decodeHello(in, payload);
			case CHALLENGE -> new Challenge(in.raw(NONCE_BYTES));
			case PROOF -> new Proof(in.raw(SessionKey.PROOF_BYTES));
			case WELCOME -> new Welcome(in.int64(), in.raw(SessionKey.PROOF_BYTES));
			case REFUSED -> new Refused(reason(in.int8()), in.text());
			case AWAITING -> new Awaiting(new Absence(ranks(in), ranks(in), ranks(in)), in.flag());
			case ROSTER -> decodeRoster(in);
			case PING -> new Ping(in.int64());
			case PONG -> new Pong(in.int64(), in.list(Integer.BYTES + Long.BYTES, () -> progress(in)));
			case REPORT -> new Report(failure(in));
			case ROLL_ANSWER -> new RollAnswer(in.int64(), in.int64(), ranks(in));
			case ENTER_BARRIER -> new EnterBarrier(entry(in));
			case ANNOUNCE -> new Announce(entry(in), signature(in));
			case MATCHED -> matched(in);
			case WITHDRAW -> new Withdraw(in.int64());
			case LEFT_GROUP -> new LeftGroup(in.text(), ranks(in), in.int64());
			case DEPARTED -> new Departed(in.list(2 * Integer.BYTES + Long.BYTES, () -> departure(in)));
			case CONFIRM -> new Confirm(in.int64(), in.int32());
			case CONFIRMED -> new Confirmed(in.int64(), in.int32());
			case ASK_DRAIN -> new AskDrain(in.text());
			case GOODBYE -> new Goodbye(in.optionalText());
			case VERDICT -> new Verdict(failure(in));
			case ROLL_CALL -> new RollCall(in.int64(), in.text());
			case BARRIER_ENDED -> new BarrierEnded(in.int64(), outcome(in));
			case DRAIN -> new Drain(in.text());
			case SIGHTINGS -> new Sightings(in.list(1 + 2 * Integer.BYTES, () -> sighting(in)));
			case FAREWELL -> new Farewell();
			case POSTED -> new Posted(post(in));
			case POSTED_BATCH -> new PostedBatch(in.list(LEAST_POST_BYTES, () -> post(in)));
			case ASK_CALL -> new AskCall(in.text(), in.int64());
			case ASK_ACCOUNTS -> new AskAccounts(in.int64(), in.int32());
			case ACCOUNT -> new Account(in.int32(), in.int64(), in.bytes());
			case TELL_ACCOUNT -> new TellAccount(in.int32(), in.int64(), in.int32());
			case ACCOUNT_OF -> new AccountOf(in.int64(), in.int32(), in.bytes());
			default -> throw new MalformedFrameException("no message has type " + type);
		};
		in.end();
		return message;
	}

	private static ByteBuffer encodeHello(Hello hello) {
		return new WireWriter(HELLO).int32(MAGIC)
			.int32(VERSION)
			.text(hello.jobId())
			.int64(hello.generation())
			.int32(hello.rank())
			.int32(hello.worldSize())
			.text(hello.host())
			.flag(hello.hostChosen())
			.int32(hello.dataPort())
			.text(hello.hostIdentity())
			.raw(hello.nonce())
			.frame();
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
		return new Hello(in.text(), in.int64(), in.int32(), in.int32(), in.text(), in.flag(), in.int32(), in.text(),
				in.raw(NONCE_BYTES));
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

	private static void write(WireWriter out, Progress progress) {
		out.text(progress.group()).int64(progress.lastEntered());
	}

	private static Progress progress(WireReader in) throws MalformedFrameException {
		return new Progress(in.text(), in.int64());
	}

	private static void write(WireWriter out, Departure departure) {
		out.int32(departure.rank()).text(departure.group()).int64(departure.lastCompleted());
	}

	private static Departure departure(WireReader in) throws MalformedFrameException {
		return new Departure(in.int32(), in.text(), in.int64());
	}

	private static void write(WireWriter out, Sighting sighting) {
		out.int8(sighting.state().ordinal()).int32(sighting.lastSeenMillis()).int32(sighting.roundTripMicros());
	}

	private static Sighting sighting(WireReader in) throws MalformedFrameException {
		return new Sighting(in.constant(PeerStatus.State.values()), in.int32(), in.int32());
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

	private static WireWriter write(WireWriter out, CallPost post) {
		return write(out.text(post.group()), post.call()).int8(post.memory().ordinal())
			.int64(nanos(post.elapsed()))
			.int64(nanos(post.timeout()));
	}

	private static CallPost post(WireReader in) throws MalformedFrameException {
		return new CallPost(in.text(), signature(in), in.constant(MemoryKind.values()), Duration.ofNanos(in.int64()),
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
