package io.tutti.training;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Replaces a file's content so that at any moment, a crash or a full disk included,
 * either the old content is there or the new, whole.
 */
final class AtomicFile {

	private AtomicFile() {
	}

	/**
	 * Writes beside the file, flushes, and renames. Several processes may write one file
	 * at once: each has a temporary file of its own, and the last rename stays. Anything
	 * there that is not a plain file, such as {@code /dev/stdout}, is written to as it
	 * is.
	 */
	static void write(Path file, byte[] content) throws IOException {
		if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
			Files.write(file, content);
			return;
		}
		Path directory = directoryOf(file);
		Path temporary = temporary(file);
		try {
			writeAndFlush(temporary, content);
			Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
			flushDirectory(directory);
		}
		catch (IOException ex) {
			Files.deleteIfExists(temporary);
			throw ex;
		}
	}

	/** A name of this process's own, so that two jobs do not write one file together. */
	static Path temporary(Path file) {
		return directoryOf(file).resolve(file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
	}

	/** The directory that holds a file. */
	static Path directoryOf(Path file) {
		Path parent = file.toAbsolutePath().getParent();
		if (parent == null) {
			throw new IllegalArgumentException(file + " is no file");
		}
		return parent;
	}

	private static void writeAndFlush(Path file, byte[] content) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE,
				StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
			ByteBuffer buffer = ByteBuffer.wrap(content);
			while (buffer.hasRemaining()) {
				channel.write(buffer);
			}
			channel.force(true);
		}
	}

	/** Makes the new name itself survive a crash. */
	private static void flushDirectory(Path directory) throws IOException {
		try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
			channel.force(true);
		}
	}

}
