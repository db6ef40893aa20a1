package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;

/**
 * A memory-backed file that several processes map. Its space is reserved before it is
 * mapped: such files are sparse, and access to a page that a full file system cannot
 * provide would terminate the process.
 */
final class SharedSegment implements AutoCloseable {

	private static final long MIB = 1 << 20;

	private final Path file;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment memory;

	/** Whether this process has created the file and not yet tried to remove its name. */
	private boolean named;

	private SharedSegment(Path file, FileChannel channel, long bytes, boolean named) throws IOException {
		this.file = file;
		this.named = named;
		try {
			this.memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, this.arena);
		}
		catch (IOException | RuntimeException | Error ex) {
			this.arena.close();
			throw ex;
		}
	}

	/**
	 * Creates a zeroed segment that only this user may open.
	 * @throws IOException if the file exists already, there is too little space, or the
	 * deadline passes first
	 */
	static SharedSegment create(Path file, long bytes, Deadline deadline) throws IOException {
		Set<OpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
		try (FileChannel channel = FileChannel.open(file, options,
				PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
			return CleanUp.orElse(() -> {
				reserve(channel, bytes, file.toAbsolutePath().getParent(), deadline);
				return new SharedSegment(file, channel, bytes, true);
			}, () -> Files.deleteIfExists(file));
		}
	}

	private static void reserve(FileChannel channel, long bytes, Path directory, Deadline deadline) throws IOException {
		long free = Files.getFileStore(directory).getUsableSpace();
		long done = 0;
		try {
			ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(bytes, MIB));
			for (; done < bytes && !deadline.expired(); done += zeros.position()) {
				zeros.clear().limit((int) Math.min(zeros.capacity(), bytes - done));
				channel.write(zeros);
			}
		}
		catch (IOException ex) {
			throw new IOException("shared memory needs " + mebibytes(bytes) + " MiB in " + directory + ", " + free / MIB
					+ " MiB are free (" + ex.getMessage() + "); give the container --shm-size or a memory-backed "
					+ directory, ex);
		}
		if (done < bytes) {
			throw new IOException("reserving " + mebibytes(bytes) + " MiB in " + directory + " took longer than "
					+ deadline.timeout().toMillis() + " ms");
		}
	}

	private static long mebibytes(long bytes) {
		return (bytes + MIB - 1) / MIB;
	}

	/**
	 * Maps a segment that another process has created.
	 * @throws IOException if there is no segment of that size
	 */
	static SharedSegment open(Path file, long bytes) throws IOException {
		try (FileChannel channel = FileChannel.open(file,
				Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
			if (channel.size() != bytes) {
				throw new IOException(file + " must have " + bytes + " bytes, has " + channel.size());
			}
			return new SharedSegment(file, channel, bytes, false);
		}
	}

	/** Address of the segment in this process. */
	long address() {
		return this.memory.address();
	}

	/** The segment's memory; valid until the segment is closed. */
	MemorySegment memory() {
		return this.memory;
	}

	/**
	 * Removes the file's name, once, if this process has created it; existing mappings
	 * stay valid.
	 */
	void unlink() throws IOException {
		if (this.named) {
			this.named = false;
			Files.deleteIfExists(this.file);
		}
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
