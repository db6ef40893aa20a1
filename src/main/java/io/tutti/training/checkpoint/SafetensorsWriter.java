package io.tutti.training.checkpoint;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

import io.tutti.engine.spi.Sha256;

/**
 * Writes tensors to a safetensors file.
 */
final class SafetensorsWriter {

	/**
	 * Bytes hashed and written at once, so that they are still in a processor's cache.
	 */
	private static final int PIECE_BYTES = 1 << 20;

	/**
	 * Bytes flushed at once, so that the progress is that of the disk, not of the
	 * system's cache.
	 */
	private static final int FLUSHED_BYTES = 256 << 20;

	private SafetensorsWriter() {
	}

	/**
	 * Writes a new file and flushes it to the disk. Tensors are ordered by the size of
	 * their elements, largest first, so that the data of each is aligned, and by name.
	 * @param writing called again and again meanwhile
	 * @return SHA-256 of the file, in hexadecimal
	 * @throws IllegalArgumentException if two tensors have one name or the header exceeds
	 * the limit of the format
	 */
	static String write(Path file, Map<String, String> metadata, List<StoredTensor> tensors, Runnable writing)
			throws IOException {
		List<StoredTensor> ordered = tensors.stream()
			.sorted(Comparator.comparingInt((StoredTensor tensor) -> -tensor.header().type().bytes())
				.thenComparing((tensor) -> tensor.header().name()))
			.toList();
		MessageDigest digest = Sha256.newDigest();
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			write(channel, digest, MemorySegment.ofArray(header(metadata, ordered)), writing);
			for (StoredTensor tensor : ordered) {
				write(channel, digest, tensor.data(), writing);
			}
			channel.force(true);
		}
		return Sha256.hex(digest);
	}

	private static byte[] header(Map<String, String> metadata, List<StoredTensor> ordered) {
		SafetensorsFormat.Header header = new SafetensorsFormat.Header();
		header.metadata = metadata;
		long offset = 0;
		for (StoredTensor tensor : ordered) {
			long end = offset + tensor.data().byteSize();
			TensorHeader shape = tensor.header();
			if (header.tensors().containsKey(shape.name())) {
				throw new IllegalArgumentException("two tensors are named " + shape.name());
			}
			header.add(shape.name(),
					new SafetensorsFormat.Entry(shape.type().name(), shape.shape(), List.of(offset, end)));
			offset = end;
		}
		byte[] json = SafetensorsFormat.MAPPER.writeValueAsBytes(header);
		int padded = Math.ceilDiv(json.length, SafetensorsFormat.ALIGNMENT) * SafetensorsFormat.ALIGNMENT;
		if (padded > SafetensorsFormat.MAX_HEADER_BYTES) {
			throw new IllegalArgumentException("the names and shapes of " + ordered.size() + " tensors take " + padded
					+ " bytes, more than the " + SafetensorsFormat.MAX_HEADER_BYTES + " of the safetensors format");
		}
		byte[] bytes = new byte[Long.BYTES + padded];
		Arrays.fill(bytes, (byte) ' ');
		ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(padded).put(json);
		return bytes;
	}

	private static void write(FileChannel channel, MessageDigest digest, MemorySegment data, Runnable writing)
			throws IOException {
		for (long from = 0; from < data.byteSize(); from += PIECE_BYTES) {
			ByteBuffer piece = data.asSlice(from, Math.min(PIECE_BYTES, data.byteSize() - from)).asByteBuffer();
			digest.update(piece.duplicate());
			long before = channel.position();
			while (piece.hasRemaining()) {
				channel.write(piece);
			}
			if (channel.position() / FLUSHED_BYTES > before / FLUSHED_BYTES) {
				channel.force(false);
			}
			writing.run();
		}
	}

}
