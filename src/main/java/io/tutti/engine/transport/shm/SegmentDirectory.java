package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

import io.tutti.engine.spi.Sha256;

/**
 * Names new segments in the shared-memory directory and removes stale ones of dead
 * processes.
 */
final class SegmentDirectory {

	private static final SecureRandom RANDOM = new SecureRandom();

	private final Path directory;

	private final String job;

	SegmentDirectory(SharedMemorySettings settings) {
		this.directory = settings.directory();
		this.job = hash(settings.jobId());
	}

	/** A file name for a new segment of this process. */
	String newName() throws IOException {
		return new SegmentName(SegmentName.currentUser(), this.job, ProcessIdentity.current(), RANDOM.nextLong())
			.toString();
	}

	/** The path of a segment name, which may come from another rank. */
	Path file(String name) throws IOException {
		if (SegmentName.parse(name) == null) {
			throw new IOException("\"" + name + "\" is no name of a shared segment");
		}
		return this.directory.resolve(name);
	}

	/**
	 * Removes segments of this user whose owner has ended, as far as it can: anyone may
	 * give a file such a name.
	 * @return the number of segments removed
	 */
	int sweep() throws IOException {
		int swept = 0;
		long user = SegmentName.currentUser();
		try (DirectoryStream<Path> files = Files.newDirectoryStream(this.directory, "tutti-" + user + "-*")) {
			for (Path file : files) {
				SegmentName name = SegmentName.parse(file.getFileName().toString());
				if (name != null && name.user() == user && name.owner().dead() && removed(file)) {
					swept++;
				}
			}
		}
		catch (IOException | DirectoryIteratorException ex) {
			return swept;
		}
		return swept;
	}

	private static boolean removed(Path file) {
		try {
			return Files.deleteIfExists(file);
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static String hash(String job) {
		return HexFormat.of().formatHex(Sha256.of(job.getBytes(StandardCharsets.UTF_8)), 0, 8);
	}

}
