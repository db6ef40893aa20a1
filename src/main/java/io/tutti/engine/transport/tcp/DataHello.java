package io.tutti.engine.transport.tcp;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;

/**
 * The first frame on a data connection: its group and its two ranks.
 *
 * @param group name of the group
 * @param generation the generation of the job
 * @param from world rank that connects
 * @param to world rank that accepts
 */
record DataHello(String group, long generation, int from, int to) {

	/** Longest encoded hello: the limit of what an unauthenticated client sends. */
	static final int MAX_BYTES = 512;

	private static final long MAGIC = 0x5455_5454_4944_4154L;

	private static final int VERSION = 1;

	byte[] encode() {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeLong(MAGIC);
			out.writeInt(VERSION);
			out.writeLong(this.generation);
			out.writeInt(this.from);
			out.writeInt(this.to);
			byte[] name = this.group.getBytes(StandardCharsets.UTF_8);
			out.writeShort(name.length);
			out.write(name);
		}
		catch (IOException ex) {
			throw new IllegalStateException("writing to memory failed", ex);
		}
		return bytes.toByteArray();
	}

	/**
	 * @throws IOException if the bytes are no hello of this version
	 */
	static DataHello decode(byte[] bytes) throws IOException {
		DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
		if (in.readLong() != MAGIC || in.readInt() != VERSION) {
			throw new IOException("not a data connection of this version");
		}
		long generation = in.readLong();
		int from = in.readInt();
		int to = in.readInt();
		byte[] name = new byte[in.readUnsignedShort()];
		in.readFully(name);
		return new DataHello(new String(name, StandardCharsets.UTF_8), generation, from, to);
	}

}
