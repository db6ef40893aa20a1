package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.training.internal.AtomicFile;
import org.jspecify.annotations.Nullable;

/**
 * The checkpoints of a job, one directory {@code step-<steps>} for each. A checkpoint is
 * written under a temporary name and renamed when it is complete and flushed, so that it
 * is complete or missing after a crash or on a full disk. A lock file keeps a second job
 * out; the operating system releases it when the process ends.
 */
final class CheckpointDirectory implements Closeable {

	private static final Pattern NAME = Pattern.compile("step-(\\d{8,18})");

	private static final String TEMPORARY = ".tmp";

	private static final String LOCK = ".lock";

	/** Enough for process, host and time. */
	private static final int MAX_HOLDER_BYTES = 512;

	private final Path path;

	private final FileChannel lock;

	/** A checkpoint. */
	record Entry(Path path, long step) {
	}

	/** Fills a directory with the files of a checkpoint. */
	interface Content {

		void writeTo(Path directory) throws IOException;

	}

	/**
	 * Creates the directory if necessary, locks it and deletes what an interrupted write
	 * has left.
	 * @throws IllegalStateException if another job uses the directory; the message names
	 * its process
	 * @throws IOException if the directory cannot be created or locked
	 */
	CheckpointDirectory(Path path) throws IOException {
		Files.createDirectories(path);
		this.path = path;
		this.lock = lock(path.resolve(LOCK));
		try {
			for (Path leftover : children(path, (name) -> name.endsWith(TEMPORARY))) {
				delete(leftover);
			}
		}
		catch (IOException ex) {
			this.lock.close();
			throw ex;
		}
	}

	/** The complete checkpoints of a directory, newest first; none if it is missing. */
	static List<Entry> list(Path path) throws IOException {
		return children(path, (name) -> NAME.matcher(name).matches()).stream()
			.map((child) -> new Entry(child, step(child)))
			.sorted(Comparator.comparingLong(Entry::step).reversed())
			.toList();
	}

	/**
	 * Adds a checkpoint, unless an earlier generation of an elastic group has completed
	 * one of the same step.
	 * @return its directory
	 * @throws IOException if it cannot be written; nothing of it is left
	 */
	Path add(long step, Content content) throws IOException {
		Path target = this.path.resolve(String.format("step-%08d", step));
		if (Files.isDirectory(target)) {
			return target;
		}
		Path temporary = this.path.resolve(target.getFileName() + TEMPORARY);
		try {
			Files.createDirectory(temporary);
			content.writeTo(temporary);
			flush(temporary);
			Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
			flush(this.path);
			return target;
		}
		catch (IOException | RuntimeException ex) {
			try {
				delete(temporary);
			}
			catch (IOException second) {
				ex.addSuppressed(second);
			}
			throw ex;
		}
	}

	/**
	 * Deletes all but the newest checkpoints. Each is renamed first, so that no part of
	 * one is taken for a checkpoint.
	 */
	void prune(int keep) throws IOException {
		for (Entry old : list(this.path).stream().skip(keep).toList()) {
			Path temporary = this.path.resolve(old.path().getFileName() + TEMPORARY);
			Files.move(old.path(), temporary, StandardCopyOption.ATOMIC_MOVE);
			delete(temporary);
		}
	}

	@Override
	public void close() throws IOException {
		this.lock.close();
	}

	private static FileChannel lock(Path file) throws IOException {
		FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
		FileLock held;
		try {
			held = channel.tryLock();
		}
		catch (OverlappingFileLockException ex) {
			// The channel stays open: closing it would release this process's other lock.
			throw inUse(file, channel, ex);
		}
		catch (IOException ex) {
			channel.close();
			throw ex;
		}
		if (held == null) {
			try (channel) {
				throw inUse(file, channel, null);
			}
		}
		channel.truncate(0);
		channel.write(ByteBuffer.wrap(holder().getBytes(StandardCharsets.UTF_8)), 0);
		return channel;
	}

	private static String holder() {
		String host;
		try {
			host = InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			host = "this host";
		}
		return "process " + ProcessHandle.current().pid() + " on " + host + " since "
				+ Instant.now().truncatedTo(ChronoUnit.SECONDS);
	}

	private static IllegalStateException inUse(Path file, FileChannel channel, @Nullable Exception cause)
			throws IOException {
		ByteBuffer holder = ByteBuffer.allocate(MAX_HOLDER_BYTES);
		channel.read(holder, 0);
		String known = new String(holder.array(), 0, holder.position(), StandardCharsets.UTF_8).strip();
		return new IllegalStateException(
				"the checkpoint directory " + AtomicFile.directoryOf(file) + " is in use by another job"
						+ (known.isEmpty() ? "" : ": " + known) + ". Give each job its own directory, or end that job",
				cause);
	}

	private static List<Path> children(Path path, java.util.function.Predicate<String> name) throws IOException {
		try (Stream<Path> all = Files.list(path)) {
			return all.filter((child) -> name.test(child.getFileName().toString())).toList();
		}
		catch (NoSuchFileException ex) {
			return List.of();
		}
	}

	private static long step(Path path) {
		return Optional.of(NAME.matcher(path.getFileName().toString()))
			.filter(Matcher::matches)
			.map((name) -> Long.parseLong(name.group(1)))
			.orElseThrow();
	}

	private static void flush(Path directory) throws IOException {
		try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
			channel.force(true);
		}
	}

	private static void delete(Path path) throws IOException {
		if (!Files.exists(path)) {
			return;
		}
		Files.walkFileTree(path, new SimpleFileVisitor<>() {
			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				Files.delete(file);
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
					throws IOException {
				if (failure != null) {
					throw failure;
				}
				Files.delete(directory);
				return FileVisitResult.CONTINUE;
			}
		});
	}

}
