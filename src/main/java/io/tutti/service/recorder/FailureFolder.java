package io.tutti.service.recorder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;

/**
 * A folder with a bounded number of a rank's latest files. Each file is written
 * atomically.
 */
final class FailureFolder {

	private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss.SSS'Z'")
		.withZone(ZoneOffset.UTC);

	private static final String SUFFIX = ".json";

	/** Excludes files of another job whose names start with this prefix. */
	private static final Pattern STAMPED = Pattern.compile("\\d{8}T\\d{6}\\.\\d{3}Z\\.json");

	/** A file that was not complete when its process was killed. */
	private static final Pattern PARTIAL = Pattern.compile("\\d+\\.part");

	/** A younger one may be that of another process of the same name, in use. */
	private static final Duration PARTIAL_AGE = Duration.ofMinutes(1);

	/** A file name has at most 255 characters in all. */
	private static final int MAX_JOB_CHARACTERS = 100;

	private final Path folder;

	private final String prefix;

	private final int keep;

	/**
	 * The folder of one rank of one job; other jobs may write to it too.
	 * @param keep how many files of this rank and job are kept
	 */
	FailureFolder(Path folder, String jobId, int rank, int keep) {
		this.folder = folder;
		this.prefix = "tutti-flight-recorder-" + forFiles(jobId) + "-r" + rank + "-";
		this.keep = keep;
	}

	/** Names that differ in other or in later characters only stay different. */
	private static String forFiles(String jobId) {
		String allowed = jobId.replaceAll("[^\\w.-]", "_");
		String start = allowed.substring(0, Math.min(allowed.length(), MAX_JOB_CHARACTERS));
		return start.equals(jobId) ? jobId : start + "-" + Integer.toHexString(jobId.hashCode());
	}

	/**
	 * The name of a job for its files. Of a job without an id, each process has a name of
	 * its own: jobs may use the same rendezvous address, one after the other or on hosts
	 * that share the folder.
	 * @param assignment the launcher's
	 */
	static String nameOf(String jobId, RankAssignment assignment) {
		if (!jobId.equals(EngineSettings.DEFAULTS.jobId())) {
			return jobId;
		}
		String process = ManagementFactory.getRuntimeMXBean().getName().replace('@', '-');
		return assignment.masterAddress() + "-" + assignment.masterPort() + "-" + process;
	}

	/** Writes a file, and removes the oldest beyond the limit and incomplete ones. */
	synchronized Path write(byte[] content, Instant now) throws IOException {
		Files.createDirectories(this.folder);
		Path partial = Files.createTempFile(this.folder, this.prefix, ".part");
		Path file = this.folder.resolve(this.prefix + STAMP.format(now) + SUFFIX).toAbsolutePath();
		try {
			Files.write(partial, content);
			Files.move(partial, file, StandardCopyOption.ATOMIC_MOVE);
		}
		finally {
			Files.deleteIfExists(partial);
		}
		prune();
		return file;
	}

	/**
	 * File names contain the time, so that the newest sorts first. A file that cannot be
	 * removed, such as another user's file in a shared folder, is skipped.
	 */
	private void prune() throws IOException {
		Stream<Path> old = ours(STAMPED).stream().skip(this.keep);
		Stream<Path> abandoned = ours(PARTIAL).stream().filter(FailureFolder::isAbandoned);
		for (Path file : Stream.concat(old, abandoned).toList()) {
			try {
				Files.deleteIfExists(file);
			}
			catch (IOException ex) {
				// Best effort: the new file has been written.
			}
		}
	}

	private static boolean isAbandoned(Path partial) {
		return partial.toFile().lastModified() < System.currentTimeMillis() - PARTIAL_AGE.toMillis();
	}

	private List<Path> ours(Pattern ending) throws IOException {
		try (Stream<Path> files = Files.list(this.folder)) {
			return files.filter((file) -> isOurs(file.getFileName().toString(), ending))
				.sorted(Comparator.comparing((Path file) -> file.getFileName().toString()).reversed())
				.toList();
		}
		catch (UncheckedIOException ex) {
			throw ex.getCause();
		}
	}

	private boolean isOurs(String name, Pattern ending) {
		return name.startsWith(this.prefix) && ending.matcher(name.substring(this.prefix.length())).matches();
	}

}
