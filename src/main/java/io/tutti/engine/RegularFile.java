package io.tutti.engine;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

import org.jspecify.annotations.Nullable;

/**
 * Reads text from a file that a user has named. Refuses pipes and devices, which may have
 * no end, and files that are too large.
 */
public final class RegularFile {

	/** Far longer than a token, far shorter than a file given by mistake. */
	public static final int MAX_TOKEN_BYTES = 4096;

	private RegularFile() {
	}

	/**
	 * Why a file cannot be read.
	 * @param file the file
	 * @param maxBytes size of the largest file to read
	 * @return the reason, {@code null} if it can probably be read
	 */
	public static @Nullable String problem(Path file, long maxBytes) {
		try {
			BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
			if (!attributes.isRegularFile()) {
				return attributes.isDirectory() ? "it is a directory" : "it is no regular file";
			}
			if (attributes.size() > maxBytes) {
				return tooLarge(maxBytes);
			}
			return Files.isReadable(file) ? null : "permission denied";
		}
		catch (NoSuchFileException ex) {
			return "there is no such file";
		}
		catch (IOException ex) {
			return FailureReason.of(ex);
		}
	}

	/** Files of {@code /proc} hold more than their size. */
	private static String tooLarge(long maxBytes) {
		return "it holds more than " + maxBytes + " bytes";
	}

	/**
	 * Reads a file in UTF-8.
	 * @param file the file
	 * @param maxBytes size of the largest file to read
	 * @return its text
	 * @throws IOException with the reason as its message
	 */
	public static String read(Path file, long maxBytes) throws IOException {
		String problem = problem(file, maxBytes);
		if (problem != null) {
			throw new IOException(problem);
		}
		try (InputStream in = Files.newInputStream(file)) {
			byte[] bytes = in.readNBytes(Math.toIntExact(maxBytes + 1));
			if (bytes.length > maxBytes) {
				throw new IOException(tooLarge(maxBytes));
			}
			return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
		}
		catch (CharacterCodingException ex) {
			throw new IOException("it is no text in UTF-8", ex);
		}
	}

}
