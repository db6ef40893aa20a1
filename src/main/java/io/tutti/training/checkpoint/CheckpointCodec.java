package io.tutti.training.checkpoint;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

import io.tutti.training.internal.Sha256;

/**
 * Reads a checkpoint in the format of earlier versions: {@code TUTTICKP}, version,
 * SHA-256 of the rest; then the job as text, the step, loss sum and sample count of the
 * current epoch, the parameters and the optimizer state. Text, parameters and state are
 * prefixed with their length. Numbers are big-endian, parameters in native byte order.
 */
final class CheckpointCodec {

	private static final byte[] MAGIC = "TUTTICKP".getBytes(StandardCharsets.US_ASCII);

	private static final int VERSION = 1;

	private static final int HEADER_BYTES = MAGIC.length + Integer.BYTES + Sha256.BYTES;

	private CheckpointCodec() {
	}

	/**
	 * Decodes a checkpoint.
	 * @throws IllegalArgumentException if the content is damaged, of another version or
	 * not a checkpoint; the message says which
	 */
	static Checkpoint decode(byte[] content) {
		if (content.length < HEADER_BYTES || !startsWithMagic(content)) {
			throw new IllegalArgumentException("it is not a Tutti checkpoint");
		}
		ByteBuffer buffer = ByteBuffer.wrap(content).position(MAGIC.length);
		int version = buffer.getInt();
		if (version != VERSION) {
			throw new IllegalArgumentException("its version is " + version + ", this build reads version " + VERSION);
		}
		byte[] expected = new byte[Sha256.BYTES];
		buffer.get(expected);
		MessageDigest digest = Sha256.newDigest();
		digest.update(buffer.duplicate());
		if (!MessageDigest.isEqual(expected, digest.digest())) {
			throw new IllegalArgumentException("it is truncated or damaged: its SHA-256 does not match");
		}
		try {
			return decodeBody(buffer);
		}
		catch (BufferUnderflowException ex) {
			throw new IllegalArgumentException("it is truncated", ex);
		}
	}

	private static boolean startsWithMagic(byte[] content) {
		return ByteBuffer.wrap(content, 0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC));
	}

	private static Checkpoint decodeBody(ByteBuffer buffer) {
		JobFingerprint job = JobFingerprint.parse(new String(read(buffer), StandardCharsets.UTF_8));
		Progress progress = new Progress(buffer.getLong(), buffer.getDouble(), buffer.getLong());
		int count = buffer.getInt();
		List<byte[]> parameters = new ArrayList<>();
		for (int index = 0; index < count; index++) {
			parameters.add(read(buffer));
		}
		return new Checkpoint(job, progress, parameters, read(buffer));
	}

	private static byte[] read(ByteBuffer buffer) {
		int length = buffer.getInt();
		if (length < 0 || length > buffer.remaining()) {
			throw new BufferUnderflowException();
		}
		byte[] bytes = new byte[length];
		buffer.get(bytes);
		return bytes;
	}

}
