package io.tutti.training.checkpoint;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The archive that {@code torch.load} reads: a ZIP file of uncompressed records, each of
 * which begins at a multiple of 64 bytes, so that it can be mapped.
 */
final class TorchArchive implements AutoCloseable {

	private static final String FOLDER = "archive/";

	private static final int ALIGNMENT = 64;

	private static final int PIECE_BYTES = 1 << 20;

	/** Bytes before the name in the local header of a record. */
	private static final int FIXED_HEADER_BYTES = 30;

	/** Field with two 64-bit sizes, which large records have in addition. */
	private static final int ZIP64_BYTES = 20;

	private static final long MAX_32_BITS = 0xFFFFFFFFL;

	/** Identifier that PyTorch uses for padding, and its length. */
	private static final int PADDING_HEADER_BYTES = 4;

	private static final short PADDING = 0x4246;

	/** Any fixed time gives the same file for the same model. */
	private static final LocalDateTime TIME = LocalDateTime.of(1980, 2, 1, 0, 0);

	private final ZipOutputStream zip;

	/** Bytes of the records so far. */
	private long position;

	/** Writes to a stream, which stays open. */
	TorchArchive(OutputStream stream) {
		this.zip = new ZipOutputStream(stream);
		this.zip.setMethod(ZipOutputStream.STORED);
	}

	/**
	 * Adds a record.
	 * @param name name without the archive's folder
	 */
	void add(String name, MemorySegment content) throws IOException {
		ZipEntry entry = new ZipEntry(FOLDER + name);
		entry.setTimeLocal(TIME);
		entry.setSize(content.byteSize());
		entry.setCrc(checksum(content));
		long header = FIXED_HEADER_BYTES + entry.getName().getBytes(StandardCharsets.UTF_8).length
				+ ((content.byteSize() >= MAX_32_BITS) ? ZIP64_BYTES : 0) + PADDING_HEADER_BYTES;
		int padding = (int) Math.floorMod(-(this.position + header), (long) ALIGNMENT);
		entry.setExtra(ByteBuffer.allocate(PADDING_HEADER_BYTES + padding)
			.order(ByteOrder.LITTLE_ENDIAN)
			.putShort(PADDING)
			.putShort((short) padding)
			.array());
		this.zip.putNextEntry(entry);
		byte[] piece = new byte[PIECE_BYTES];
		for (long from = 0; from < content.byteSize(); from += PIECE_BYTES) {
			int bytes = (int) Math.min(PIECE_BYTES, content.byteSize() - from);
			MemorySegment.ofArray(piece).asSlice(0, bytes).copyFrom(content.asSlice(from, bytes));
			this.zip.write(piece, 0, bytes);
		}
		this.zip.closeEntry();
		this.position += header + padding + content.byteSize();
	}

	private static long checksum(MemorySegment content) {
		CRC32 checksum = new CRC32();
		for (long from = 0; from < content.byteSize(); from += PIECE_BYTES) {
			checksum.update(content.asSlice(from, Math.min(PIECE_BYTES, content.byteSize() - from)).asByteBuffer());
		}
		return checksum.getValue();
	}

	/** Completes the archive. */
	@Override
	public void close() throws IOException {
		this.zip.finish();
	}

}
