package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import io.tutti.engine.spi.Sha256;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Reads a safetensors file that may be damaged or forged, once and in its order, so that
 * the hash is that of the bytes that were used. The constructor validates the header;
 * data is read, not mapped, since access to a mapped file that another process truncates
 * ends the JVM.
 */
final class SafetensorsReader implements Closeable {

	private static final int PIECE_BYTES = 1 << 22;

	private final Path file;

	private final FileChannel channel;

	private final MessageDigest digest = Sha256.newDigest();

	/** In the order of their data, which is contiguous. */
	private final List<TensorHeader> tensors;

	private final Iterator<TensorHeader> unread;

	private record Location(TensorHeader header, long from) {
	}

	/**
	 * Opens a file.
	 * @throws IllegalArgumentException if it is not a valid safetensors file; the message
	 * states why
	 * @throws IOException if it cannot be read
	 */
	SafetensorsReader(Path file) throws IOException {
		this.file = file;
		this.channel = FileChannel.open(file, StandardOpenOption.READ);
		try {
			long headerBytes = headerBytes();
			SafetensorsFormat.Header header = header((int) headerBytes);
			this.tensors = locations(header, Long.BYTES + headerBytes).stream().map(Location::header).toList();
			this.unread = this.tensors.iterator();
		}
		catch (IOException | RuntimeException ex) {
			this.channel.close();
			throw ex;
		}
	}

	/** The tensors in the order of their data. */
	List<TensorHeader> tensors() {
		return this.tensors;
	}

	/**
	 * Reads the data of the next tensor.
	 * @param header the next of {@link #tensors()}
	 * @param data native memory of the tensor's size
	 * @param reading called again and again meanwhile
	 */
	void read(TensorHeader header, MemorySegment data, Runnable reading) throws IOException {
		if (!this.unread.next().equals(header)) {
			throw new IllegalStateException(header.name() + " is not the next tensor of " + this.file);
		}
		for (long done = 0; done < data.byteSize(); done += PIECE_BYTES) {
			readFully(data.asSlice(done, Math.min(PIECE_BYTES, data.byteSize() - done)).asByteBuffer());
			reading.run();
		}
	}

	/** Whether the whole file has been read. */
	boolean isComplete() {
		return !this.unread.hasNext();
	}

	/** SHA-256 of the bytes that were read, in hexadecimal; once, at the end. */
	String sha256() {
		return Sha256.hex(this.digest);
	}

	@Override
	public void close() throws IOException {
		this.channel.close();
	}

	private void readFully(ByteBuffer target) throws IOException {
		while (target.hasRemaining()) {
			if (this.channel.read(target) < 0) {
				throw new EOFException(this.file + " ends at byte " + this.channel.position());
			}
		}
		this.digest.update(target.flip());
	}

	private long headerBytes() throws IOException {
		long size = this.channel.size();
		require(size >= Long.BYTES, "its " + size + " bytes do not hold the length of a header");
		ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
		readFully(length);
		long bytes = length.getLong(0);
		require(bytes >= 0 && bytes <= SafetensorsFormat.MAX_HEADER_BYTES, "its header has "
				+ Long.toUnsignedString(bytes) + " bytes, more than " + SafetensorsFormat.MAX_HEADER_BYTES);
		require(bytes <= size - Long.BYTES,
				"its header has " + bytes + " bytes, more than the rest of the file; it is truncated or damaged");
		return bytes;
	}

	private SafetensorsFormat.Header header(int bytes) throws IOException {
		ByteBuffer json = ByteBuffer.allocate(bytes);
		readFully(json);
		require(bytes > 0 && json.get(0) == '{', "its header does not begin with '{'");
		try {
			String text = StandardCharsets.UTF_8.newDecoder().decode(json.flip()).toString();
			return SafetensorsFormat.MAPPER.readValue(text, SafetensorsFormat.Header.class);
		}
		catch (CharacterCodingException ex) {
			throw invalid("its header is not UTF-8", ex);
		}
		catch (JacksonException ex) {
			throw invalid("its header: " + ex.getOriginalMessage(), ex);
		}
	}

	private List<Location> locations(SafetensorsFormat.Header header, long dataFrom) throws IOException {
		List<Location> found = new ArrayList<>();
		for (Map.Entry<String, SafetensorsFormat.Entry> tensor : header.tensors().entrySet()) {
			found.add(location(tensor.getKey(), tensor.getValue(), dataFrom));
		}
		found.sort(Comparator.comparingLong(Location::from).thenComparingLong((location) -> location.header().bytes()));
		long next = dataFrom;
		for (Location location : found) {
			require(location.from() == next, "the data of " + location.header().name() + " begins at byte "
					+ location.from() + " of the file instead of " + next + ": tensors overlap or leave a gap");
			next += location.header().bytes();
		}
		require(next == this.channel.size(),
				"it has " + this.channel.size() + " bytes instead of " + next + "; it is truncated or damaged");
		return found;
	}

	private Location location(String name, SafetensorsFormat.Entry entry, long dataFrom) {
		require(entry != null && isComplete(entry.shape()) && isComplete(entry.offsets())
				&& entry.offsets().size() == 2, "tensor " + name + " lacks a shape or offsets");
		ElementType type = ElementType.named(entry.dtype());
		require(type != null, "tensor " + name + " has the unknown element type " + entry.dtype());
		try {
			TensorHeader header = new TensorHeader(name, type, entry.shape());
			long begin = entry.offsets().getFirst();
			long end = entry.offsets().getLast();
			require(begin >= 0 && end >= begin && end - begin == header.bytes(), "tensor " + name + " is "
					+ header.describe() + ", " + header.bytes() + " bytes, but its offsets are " + entry.offsets());
			return new Location(header, Math.addExact(dataFrom, begin));
		}
		catch (ArithmeticException ex) {
			throw invalid("tensor " + name + " exceeds the range of 64-bit offsets", ex);
		}
	}

	private static boolean isComplete(@Nullable List<Long> numbers) {
		return numbers != null && numbers.stream().allMatch((number) -> number != null && number >= 0);
	}

	private void require(boolean condition, String problem) {
		if (!condition) {
			throw invalid(problem, null);
		}
	}

	private IllegalArgumentException invalid(String problem, @Nullable Exception cause) {
		return new IllegalArgumentException(this.file + " is not a valid safetensors file: " + problem, cause);
	}

}
