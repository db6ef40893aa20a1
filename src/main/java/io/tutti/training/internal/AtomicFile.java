package io.tutti.training.internal;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

/**
 * Replaces a file's content atomically: after a crash or on a full disk, the file holds
 * either the old content or the complete new content.
 */
public final class AtomicFile {

	private static final int BUFFER_BYTES = 1 << 16;

	/** Its links, to which {@code /dev/stdout} leads, are open files of processes. */
	private static final Path PROCESSES = Path.of("/proc");

	/** The kernel's limit. */
	private static final int MAX_LINKS = 40;

	private AtomicFile() {
	}

	/** Writes the content of a file. */
	@FunctionalInterface
	public interface Content {

		void writeTo(OutputStream stream) throws IOException;

	}

	/** Replaces the content by bytes. */
	public static void write(Path file, byte[] content) throws IOException {
		write(file, (stream) -> stream.write(content));
	}

	/**
	 * Writes a temporary file in the same directory, flushes it and renames it. The same
	 * file may be written concurrently, also by processes of several containers: each
	 * write uses its own temporary file, and the last rename wins. A symbolic link stays,
	 * and the file to which it leads is replaced. An open file of a process, such as
	 * {@code /dev/stdout}, or one that is not regular is written to directly.
	 */
	public static void write(Path file, Content content) throws IOException {
		Path target = target(file);
		if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)
				&& !Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
			try (OutputStream stream = Files.newOutputStream(target)) {
				content.writeTo(stream);
			}
			return;
		}
		Path directory = directoryOf(target);
		Path temporary = temporary(target);
		try (EndOfProcess _ = EndOfProcess.deletes(temporary)) {
			writeAndFlush(temporary, content);
			Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
			flushDirectory(directory);
		}
		catch (IOException | RuntimeException ex) {
			Files.deleteIfExists(temporary);
			throw ex;
		}
	}

	/**
	 * The file that a write replaces or creates: that to which symbolic links lead;
	 * {@code file} itself if they lead to an open file of a process, such as
	 * {@code /dev/stdout}, since the process would go on writing to the replaced file.
	 * @throws NoSuchFileException with its directory, if there is none
	 */
	public static Path target(Path file) throws IOException {
		Path next = file;
		for (int links = 0; links <= MAX_LINKS; links++) {
			// Two dots after a link to a directory leave the directory to which it leads.
			Path directory = directoryOf(next).toRealPath();
			if (!Files.isDirectory(directory)) {
				throw new NoSuchFileException(directory.toString());
			}
			Path path = directory.resolve(next.getFileName());
			if (!Files.isSymbolicLink(path)) {
				return path;
			}
			if (path.startsWith(PROCESSES)) {
				return file;
			}
			next = path.resolveSibling(Files.readSymbolicLink(path));
		}
		throw new FileSystemLoopException(file.toString());
	}

	/** Flushes the entries of a directory, so that a rename in it survives a crash. */
	public static void flushDirectory(Path directory) throws IOException {
		try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
			channel.force(true);
		}
	}

	/** The directory that holds a file. */
	public static Path directoryOf(Path file) {
		Path parent = file.toAbsolutePath().getParent();
		if (parent == null) {
			throw new IllegalArgumentException(file + " is not a file");
		}
		return parent;
	}

	/** A random name: in containers, the ids of processes are often equal. */
	private static Path temporary(Path file) {
		return directoryOf(file).resolve(file.getFileName() + "." + UUID.randomUUID() + ".tmp");
	}

	/**
	 * Deletes a file if the process ends meanwhile, as with Ctrl-C: threads do not unwind
	 * then.
	 *
	 * @param hook deletes the file; {@code null} if the process is ending
	 */
	private record EndOfProcess(@Nullable Thread hook) implements AutoCloseable {

		static EndOfProcess deletes(Path file) {
			Thread hook = new Thread(() -> file.toFile().delete(), "tutti-delete-temporary");
			try {
				Runtime.getRuntime().addShutdownHook(hook);
				return new EndOfProcess(hook);
			}
			catch (IllegalStateException ex) {
				return new EndOfProcess(null);
			}
		}

		@Override
		public void close() {
			if (this.hook == null) {
				return;
			}
			try {
				Runtime.getRuntime().removeShutdownHook(this.hook);
			}
			catch (IllegalStateException ex) {
				// The process ends, and the file has been renamed or is deleted.
			}
		}

	}

	private static void writeAndFlush(Path file, Content content) throws IOException {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
			OutputStream stream = new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES);
			content.writeTo(stream);
			stream.flush();
			channel.force(true);
		}
	}

}
