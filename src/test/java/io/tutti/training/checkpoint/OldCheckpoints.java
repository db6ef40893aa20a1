package io.tutti.training.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.tutti.training.internal.Sha256;

/**
 * Writes checkpoints as earlier versions did.
 */
final class OldCheckpoints {

	private static final byte[] MAGIC = "TUTTICKP".getBytes(StandardCharsets.US_ASCII);

	private static final int VERSION = 1;

	private static final int HEADER_BYTES = MAGIC.length + Integer.BYTES + Sha256.BYTES;

	private OldCheckpoints() {
	}

	static byte[] encode(Checkpoint checkpoint) {
		byte[] body = body(checkpoint);
		return ByteBuffer.allocate(HEADER_BYTES + body.length)
			.put(MAGIC)
			.putInt(VERSION)
			.put(Sha256.newDigest().digest(body))
			.put(body)
			.array();
	}

	private static byte[] body(Checkpoint checkpoint) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream output = new DataOutputStream(bytes)) {
			write(output, checkpoint.job().text().getBytes(StandardCharsets.UTF_8));
			output.writeLong(checkpoint.progress().step());
			output.writeDouble(checkpoint.progress().epochLoss());
			output.writeLong(checkpoint.progress().epochSamples());
			output.writeInt(checkpoint.parameters().size());
			for (byte[] parameter : checkpoint.parameters()) {
				write(output, parameter);
			}
			write(output, checkpoint.optimizer());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("writing to memory failed", ex);
		}
		return bytes.toByteArray();
	}

	private static void write(DataOutputStream output, byte[] bytes) throws IOException {
		output.writeInt(bytes.length);
		output.write(bytes);
	}

}
