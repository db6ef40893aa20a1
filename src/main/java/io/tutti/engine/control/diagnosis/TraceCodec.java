package io.tutti.engine.control.diagnosis;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a rank's trace for the control plane. Decoding checks every length and constant
 * before use.
 */
public final class TraceCodec {

	/** Longer texts are truncated. */
	private static final int MAX_TEXT_BYTES = 1024;

	/** Minimum encoded size of an element of each list. */
	private static final int LEAST_GROUP_BYTES = 20;

	private static final int LEAST_CALL_BYTES = 60;

	private static final byte VERSION = 1;

	private TraceCodec() {
	}

	/** Encodes a trace. */
	public static byte[] encode(RankTrace account) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeByte(VERSION);
			out.writeInt(account.rank());
			out.writeLong(account.generation());
			out.writeLong(account.takenNanos());
			out.writeLong(account.clockOffsetNanos());
			out.writeInt(account.groups().size());
			for (GroupTrace group : account.groups()) {
				write(out, group);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return bytes.toByteArray();
	}

	private static void write(DataOutputStream out, GroupTrace group) throws IOException {
		text(out, group.group());
		out.writeInt(group.members().size());
		for (int member : group.members()) {
			out.writeInt(member);
		}
		text(out, group.transport());
		out.writeLong(group.last());
		out.writeInt(group.calls().size());
		for (CallRecord call : group.calls()) {
			write(out, call);
		}
	}

	private static void write(DataOutputStream out, CallRecord record) throws IOException {
		CallSignature call = record.call();
		out.writeLong(call.sequence());
		out.writeByte(call.collective().ordinal());
		out.writeLong(call.count());
		out.writeInt(call.countsDigest());
		out.writeByte(call.type().ordinal());
		out.writeByte(call.op().ordinal());
		out.writeInt(call.root());
		out.writeLong(record.bytes());
		out.writeByte(record.state().ordinal());
		out.writeLong(record.issuedNanos());
		out.writeLong(record.startedNanos());
		out.writeLong(record.endedNanos());
		text(out, record.algorithm());
		String site = record.site();
		text(out, (site != null) ? site : "");
	}

	private static void text(DataOutputStream out, String text) throws IOException {
		byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
		int kept = Math.min(bytes.length, MAX_TEXT_BYTES);
		out.writeShort(kept);
		out.write(bytes, 0, kept);
	}

	/**
	 * Decodes the trace of another rank.
	 * @throws IllegalArgumentException if the bytes are not a valid trace
	 */
	public static RankTrace decode(byte[] bytes) {
		ByteBuffer in = ByteBuffer.wrap(bytes);
		try {
			int version = in.get();
			if (version != VERSION) {
				throw new IllegalArgumentException("an account of version " + version + ", not " + VERSION);
			}
			RankTrace account = new RankTrace(in.getInt(), in.getLong(), in.getLong(), in.getLong(),
					list(in, LEAST_GROUP_BYTES, TraceCodec::group));
			if (in.hasRemaining()) {
				throw new IllegalArgumentException(in.remaining() + " bytes too many in an account");
			}
			return account;
		}
		catch (BufferUnderflowException ex) {
			throw new IllegalArgumentException("an account ends within a field", ex);
		}
	}

	/**
	 * Decodes the traces of many ranks. Omits invalid traces and those of other ranks.
	 */
	public static Map<Integer, RankTrace> decodeAll(Map<Integer, byte[]> encoded) {
		Map<Integer, RankTrace> accounts = new TreeMap<>();
		encoded.forEach((rank, bytes) -> {
			try {
				RankTrace account = decode(bytes);
				if (account.rank() == rank) {
					accounts.put(rank, account);
				}
			}
			catch (IllegalArgumentException ex) {
				// The rank counts as silent.
			}
		});
		return accounts;
	}

	private static GroupTrace group(ByteBuffer in) {
		return new GroupTrace(text(in), list(in, Integer.BYTES, ByteBuffer::getInt), text(in), in.getLong(),
				list(in, LEAST_CALL_BYTES, TraceCodec::call));
	}

	private static CallRecord call(ByteBuffer in) {
		CallSignature call = new CallSignature(in.getLong(), constant(in, Collective.values()), in.getLong(),
				in.getInt(), constant(in, DataType.values()), constant(in, ReduceOp.values()), in.getInt());
		return new CallRecord(call, in.getLong(), constant(in, CallRecord.State.values()), in.getLong(), in.getLong(),
				in.getLong(), text(in), optional(text(in)));
	}

	private static @Nullable String optional(String text) {
		return text.isEmpty() ? null : text;
	}

	private static <E extends Enum<E>> E constant(ByteBuffer in, E[] values) {
		int ordinal = in.get();
		if (ordinal < 0 || ordinal >= values.length) {
			throw new IllegalArgumentException("an ordinal must be in 0.." + (values.length - 1) + ", got " + ordinal);
		}
		return values[ordinal];
	}

	private static String text(ByteBuffer in) {
		int length = in.getShort();
		if (length < 0 || length > Math.min(in.remaining(), MAX_TEXT_BYTES)) {
			throw new IllegalArgumentException("a text of " + length + " bytes in an account");
		}
		byte[] bytes = new byte[length];
		in.get(bytes);
		return new String(bytes, StandardCharsets.UTF_8);
	}

	private static <T> List<T> list(ByteBuffer in, int leastBytes, Function<ByteBuffer, T> element) {
		int count = in.getInt();
		if (count < 0 || count > in.remaining() / leastBytes) {
			throw new IllegalArgumentException(
					"a list of " + count + " in an account with " + in.remaining() + " bytes left");
		}
		List<T> items = new ArrayList<>(count);
		for (int i = 0; i < count; i++) {
			items.add(element.apply(in));
		}
		return items;
	}

}
