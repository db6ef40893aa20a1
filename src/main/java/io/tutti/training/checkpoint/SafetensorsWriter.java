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

import io.tutti.training.internal.Sha256;

/**
 * Writes tensors to a safetensors file.
 */
final class SafetensorsWriter {

	/**
	 * Bytes hashed and written at once, so that they are still in a processor's cache.
	 */
	private static final int PIECE_BYTES = 1 << 20;

	private SafetensorsWriter() {
	}

	/**
	 * Writes a new file and flushes it to the disk. Tensors are ordered by the size of
	 * their elements, largest first, so that the data of each is aligned, and by name.
	 * @return SHA-256 of the file, in hexadecimal
	 * @throws IllegalArgumentException if two tensors have one name or the header exceeds
	 * the limit of the format
	 */
	static String write(Path file, Map<String, String> metadata, List<StoredTensor> tensors) throws IOException {
		List<StoredTensor> ordered = tensors.stream()
			.sorted(Comparator.comparingInt((StoredTensor tensor) -> -tensor.header().type().bytes())
				.thenComparing((tensor) -> tensor.header().name()))
			.toList();
		MessageDigest digest = Sha256.newDigest();
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			write(channel, digest, MemorySegment.ofArray(header(metadata, ordered)));
			for (StoredTensor tensor : ordered) {
				write(channel, digest, tensor.data());
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

	private static void write(FileChannel channel, MessageDigest digest, MemorySegment data) throws IOException {
		for (long from = 0; from < data.byteSize(); from += PIECE_BYTES) {
			ByteBuffer piece = data.asSlice(from, Math.min(PIECE_BYTES, data.byteSize() - from)).asByteBuffer();
			digest.update(piece.duplicate());
			while (piece.hasRemaining()) {
				channel.write(piece);
			}
		}
	}

}
