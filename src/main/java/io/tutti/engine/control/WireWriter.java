package io.tutti.engine.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Writes one frame: length, type and fields, all big endian.
 */
final class WireWriter {

	/** Longer texts are truncated, since they are only for display. */
	static final int MAX_TEXT_CHARACTERS = 8192;

	private static final int INITIAL_BYTES = 256;

	private ByteBuffer buffer = ByteBuffer.allocate(INITIAL_BYTES);

	WireWriter(byte type) {
		this.buffer.putInt(0);
		this.buffer.put(type);
	}

	WireWriter int8(int value) {
		ensure(Byte.BYTES).put((byte) value);
		return this;
	}

	WireWriter flag(boolean value) {
		return int8(value ? 1 : 0);
	}

	WireWriter int32(int value) {
		ensure(Integer.BYTES).putInt(value);
		return this;
	}

	WireWriter int64(long value) {
		ensure(Long.BYTES).putLong(value);
		return this;
	}

	/** Writes bytes without a length; both sides know it. */
	WireWriter raw(byte[] bytes) {
		ensure(bytes.length).put(bytes);
		return this;
	}

	/** Writes bytes with their length. */
	WireWriter bytes(byte[] bytes) {
		return int32(bytes.length).raw(bytes);
	}

	WireWriter text(String text) {
		String kept = (text.length() > MAX_TEXT_CHARACTERS) ? text.substring(0, MAX_TEXT_CHARACTERS) : text;
		byte[] bytes = kept.getBytes(StandardCharsets.UTF_8);
		return int32(bytes.length).raw(bytes);
	}

	WireWriter optionalText(@Nullable String text) {
		flag(text != null);
		return (text != null) ? text(text) : this;
	}

	<T> WireWriter list(List<T> items, BiConsumer<WireWriter, T> write) {
		int32(items.size());
		items.forEach((item) -> write.accept(this, item));
		return this;
	}

	/** The complete frame, ready to send. */
	ByteBuffer frame() {
		this.buffer.putInt(0, this.buffer.position() - Integer.BYTES);
		return this.buffer.flip().asReadOnlyBuffer();
	}

	private ByteBuffer ensure(int bytes) {
		if (this.buffer.remaining() < bytes) {
			int needed = Math.addExact(this.buffer.position(), bytes);
			ByteBuffer larger = ByteBuffer.allocate(Math.max(needed, Math.multiplyExact(this.buffer.capacity(), 2)));
			this.buffer = larger.put(this.buffer.flip());
		}
		return this.buffer;
	}

}
