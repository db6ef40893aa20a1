package io.tutti.engine.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Reads the fields of one frame. Checks every length against the remaining bytes before
 * use.
 */
final class WireReader {

	/** Reads one element of a list. */
	interface Element<T> {

		T read() throws MalformedFrameException;

	}

	private final ByteBuffer bytes;

	WireReader(ByteBuffer bytes) {
		this.bytes = bytes;
	}

	int int8() throws MalformedFrameException {
		return require(Byte.BYTES).get();
	}

	boolean flag() throws MalformedFrameException {
		return int8() != 0;
	}

	int int32() throws MalformedFrameException {
		return require(Integer.BYTES).getInt();
	}

	long int64() throws MalformedFrameException {
		return require(Long.BYTES).getLong();
	}

	byte[] raw(int length) throws MalformedFrameException {
		byte[] result = new byte[length];
		require(length).get(result);
		return result;
	}

	/** Reads bytes that are preceded by their length. */
	byte[] bytes() throws MalformedFrameException {
		int length = int32();
		if (length < 0 || length > this.bytes.remaining()) {
			throw new MalformedFrameException(
					"a text of " + length + " bytes in a frame with " + this.bytes.remaining() + " left");
		}
		return raw(length);
	}

	String text() throws MalformedFrameException {
		return new String(bytes(), StandardCharsets.UTF_8);
	}

	@Nullable String optionalText() throws MalformedFrameException {
		return flag() ? text() : null;
	}

	<T> List<T> list(int leastBytes, Element<T> element) throws MalformedFrameException {
		int count = int32();
		if (count < 0 || count > this.bytes.remaining() / leastBytes) {
			throw new MalformedFrameException(
					"a list of " + count + " in a frame with " + this.bytes.remaining() + " bytes left");
		}
		List<T> items = new ArrayList<>(count);
		for (int i = 0; i < count; i++) {
			items.add(element.read());
		}
		return items;
	}

	/** Reads an ordinal and returns its constant. */
	<E extends Enum<E>> E constant(E[] values) throws MalformedFrameException {
		int ordinal = int8();
		if (ordinal < 0 || ordinal >= values.length) {
			throw new MalformedFrameException("an ordinal must be in 0.." + (values.length - 1) + ", got " + ordinal);
		}
		return values[ordinal];
	}

	/** Checks that no bytes remain. */
	void end() throws MalformedFrameException {
		if (this.bytes.hasRemaining()) {
			throw new MalformedFrameException(this.bytes.remaining() + " bytes too many in a frame");
		}
	}

	private ByteBuffer require(int length) throws MalformedFrameException {
		if (this.bytes.remaining() < length) {
			throw new MalformedFrameException("a frame ends within a field");
		}
		return this.bytes;
	}

}
