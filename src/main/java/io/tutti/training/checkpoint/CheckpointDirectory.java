package io.tutti.training.checkpoint;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
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
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
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
 * <p>
 * A stopped process keeps its lock, and so rank 0 of a later generation of an elastic job
 * cannot take it. Each generation of such a job therefore has a claim, a lock file of its
 * own whose name has the id of the job and the generation. The newest claim writes: a
 * process looks for a newer one before it publishes or deletes anything. A claim lists
 * the checkpoints of earlier jobs until the job has added its first.
 */
final class CheckpointDirectory implements Closeable {

	private static final String PREFIX = "step-";

	private static final Pattern NAME = Pattern.compile(PREFIX + "\\d{8,18}");

	private static final String TEMPORARY = ".tmp";

	/** What an interrupted write or deletion has left; other files are not ours. */
	private static final Pattern LEFTOVER = Pattern
		.compile(NAME.pattern() + "(\\.\\d+(\\.old)?)?" + Pattern.quote(TEMPORARY));

	private static final String EARLIER = ".earlier";

	private static final String LOCK = ".lock";

	/** Enough for process, host and time. */
	private static final int MAX_HOLDER_BYTES = 512;

	private static final Pattern CLAIM = Pattern.compile("\\.claim-([0-9a-f]{16})-(\\d{1,18})");

	/** Holder and steps; the line end is missing if the process was lost meanwhile. */
	private static final Pattern CLAIM_CONTENT = Pattern.compile(".*\nearlier checkpoints:((?: \\d+)*)\n");

	private final Path path;

	private final Owner owner;

	/** The lock, unless a stopped process of the same job holds it, and the claim. */
	private final List<FileChannel> locks = new ArrayList<>();

	private @Nullable FileChannel claim;

	/** Checkpoints that earlier jobs have left, until this one has added its first. */
	private List<Entry> earlier;

	/**
	 * Who writes checkpoints.
	 *
	 * @param job random id of an elastic job, 0 for any other job
	 * @param generation generation of the group
	 */
	record Owner(long job, long generation) {

		String claim() {
			return String.format(Locale.ROOT, ".claim-%016x-%d", this.job, this.generation);
		}

		/** Whether a claim belongs to another job. */
		boolean excludes(Matcher claim) {
			return this.job == 0 || !claim.group(1).equals(String.format(Locale.ROOT, "%016x", this.job));
		}

	}

	/** A later generation of the job writes the checkpoints. */
	static final class SupersededException extends IOException {

		private static final long serialVersionUID = 1L;

		SupersededException(Path path) {
			super("a later generation of the job writes the checkpoints in " + path);
		}

	}

	/** A checkpoint. */
	record Entry(Path path, long step) {
	}

	/** A checkpoint that has got another name. */
	private record Moved(Path from, Path to) {
	}

	/** Fills a directory with the files of a checkpoint. */
	interface Content {

		void writeTo(Path directory) throws IOException;

	}

	/**
	 * Creates the directory if necessary, locks it and deletes what interrupted writes of
	 * checkpoints have left.
	 * @throws IllegalStateException if another job uses the directory; the message names
	 * its process
	 * @throws IOException if the directory cannot be created or locked
	 */
	CheckpointDirectory(Path path, Owner owner) throws IOException {
		Files.createDirectories(path);
		this.path = path;
		this.owner = owner;
		try {
			boolean alone = takeLock(path.resolve(LOCK));
			this.earlier = earlierCheckpoints();
			if (owner.job() != 0) {
				takeClaim();
			}
			requireNoOtherJob();
			if (alone && isNewest()) {
				children(path, (name) -> LEFTOVER.matcher(name).matches())
					.forEach(CheckpointDirectory::deleteNowOrLater);
			}
		}
		catch (IOException | RuntimeException ex) {
			close();
			throw ex;
		}
	}

	/** The directory of a job that is not elastic. */
	CheckpointDirectory(Path path) throws IOException {
		this(path, new Owner(0, 0));
	}

	/** The complete checkpoints of a directory, newest first; none if it is missing. */
	static List<Entry> list(Path path) throws IOException {
		return children(path, (name) -> NAME.matcher(name).matches()).stream()
			.map((child) -> new Entry(child, step(child)))
			.sorted(Comparator.comparingLong(Entry::step).reversed())
			.toList();
	}

	/** The job continues from the newest checkpoint, and therefore sets none aside. */
	void continueFromNewest() throws IOException {
		rememberEarlier(List.of());
	}

	/**
	 * Adds a checkpoint, unless an earlier generation of an elastic group has completed
	 * one of the same step.
	 * @return its directory; empty if there was one
	 * @throws IOException if it cannot be written; nothing of it is left, and the others
	 * are unchanged
	 */
	Optional<Path> add(long step, Content content) throws IOException {
		requireNewest();
		Entry added = entry(step);
		if (this.owner.job() != 0 && Files.isDirectory(added.path()) && !this.earlier.contains(added)) {
			return Optional.empty();
		}
		Path temporary = this.path.resolve(added.path().getFileName() + "." + this.owner.generation() + TEMPORARY);
		try {
			Files.createDirectory(temporary);
			content.writeTo(temporary);
			AtomicFile.flushDirectory(temporary);
			replaceObsolete(added, temporary);
			return Optional.of(added.path());
		}
		catch (IOException | RuntimeException | Error ex) {
			try {
				delete(temporary);
			}
			catch (IOException second) {
				ex.addSuppressed(second);
			}
			requireNewest();
			throw ex;
		}
	}

	/**
	 * Publishes a checkpoint. Before, checkpoints that an earlier job has left get
	 * another name, since a restart would restore those of later steps instead, and
	 * {@link #prune} delete the others. So do those of the same and of later steps that
	 * this job has added before it has gone back.
	 */
	private void replaceObsolete(Entry added, Path temporary) throws IOException {
		List<Entry> before = this.earlier;
		List<Moved> aside = new ArrayList<>();
		try {
			for (Entry old : list(this.path)) {
				if (old.step() >= added.step() || before.contains(old)) {
					requireNewest();
					aside.add(setAside(old.path()));
				}
			}
			rememberEarlier(List.of());
			requireNewest();
			publish(temporary, added.path());
		}
		catch (IOException ex) {
			try {
				undo(aside, before);
			}
			catch (IOException second) {
				ex.addSuppressed(second);
			}
			throw ex;
		}
	}

	private void undo(List<Moved> aside, List<Entry> before) throws IOException {
		requireNewest();
		try {
			rememberEarlier(before);
		}
		finally {
			for (Moved moved : aside) {
				Files.move(moved.to(), moved.from(), StandardCopyOption.ATOMIC_MOVE);
			}
		}
	}

	/** A checkpoint that a crash could lose is none. */
	private void publish(Path temporary, Path target) throws IOException {
		Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
		try {
			AtomicFile.flushDirectory(this.path);
		}
		catch (IOException ex) {
			Files.move(target, temporary, StandardCopyOption.ATOMIC_MOVE);
			throw ex;
		}
	}

	private Entry entry(long step) {
		return new Entry(this.path.resolve(String.format(Locale.ROOT, "step-%08d", step)), step);
	}

	private static Moved setAside(Path checkpoint) throws IOException {
		Path aside = aside(checkpoint);
		Files.move(checkpoint, aside, StandardCopyOption.ATOMIC_MOVE);
		return new Moved(checkpoint, aside);
	}

	/** A name that no other job has used. */
	private static Path aside(Path checkpoint) {
		Path aside = checkpoint.resolveSibling(checkpoint.getFileName() + EARLIER);
		for (int number = 2; Files.exists(aside); number++) {
			aside = checkpoint.resolveSibling(checkpoint.getFileName() + EARLIER + "-" + number);
		}
		return aside;
	}

	private void rememberEarlier(List<Entry> entries) throws IOException {
		if (!this.earlier.equals(entries)) {
			this.earlier = entries;
			recordEarlier();
		}
	}

	/**
	 * Deletes all but the newest checkpoints. Each is renamed first, so that no part of
	 * one is taken for a checkpoint. A process that was stopped here may delete them too.
	 */
	void prune(int keep) throws IOException {
		requireNewest();
		for (Entry old : list(this.path).stream().skip(keep).toList()) {
			Path temporary = this.path
				.resolve(old.path().getFileName() + "." + this.owner.generation() + ".old" + TEMPORARY);
			try {
				Files.move(old.path(), temporary, StandardCopyOption.ATOMIC_MOVE);
			}
			catch (IOException ex) {
				// Another generation of the job has deleted it, or the next call tries
				// again.
			}
			deleteNowOrLater(temporary);
		}
	}

	/**
	 * Deletes what is no checkpoint any more. If a part of it cannot be deleted, for
	 * example while a reader on NFS has it open, a later job tries again.
	 */
	private static void deleteNowOrLater(Path path) {
		try {
			delete(path);
		}
		catch (IOException ex) {
			// The checkpoints are complete without it.
		}
	}

	private void requireNewest() throws IOException {
		if (!isNewest()) {
			throw new SupersededException(this.path);
		}
	}

	private boolean isNewest() throws IOException {
		return claims().stream()
			.map(CheckpointDirectory::claim)
			.noneMatch((claim) -> !this.owner.excludes(claim) && generation(claim) > this.owner.generation());
	}

	@Override
	public void close() throws IOException {
		for (FileChannel lock : this.locks) {
			lock.close();
		}
	}

	/** Returns whether no process of the same job holds the lock. */
	private boolean takeLock(Path file) throws IOException {
		try {
			this.locks.add(lock(file));
			return true;
		}
		catch (IllegalStateException ex) {
			if (earlierClaims().isEmpty()) {
				throw ex;
			}
			return false;
		}
	}

	/**
	 * Claims of earlier generations. While there is one, no other job has taken the lock,
	 * since it would have found the claim locked or deleted it.
	 */
	private List<Path> earlierClaims() throws IOException {
		return claims().stream().filter((file) -> {
			Matcher claim = claim(file);
			return !this.owner.excludes(claim) && generation(claim) < this.owner.generation();
		}).toList();
	}

	/** Those that the first generation of the job has found. */
	private List<Entry> earlierCheckpoints() throws IOException {
		List<Path> newestFirst = earlierClaims().stream()
			.sorted(Comparator.comparingLong((Path file) -> generation(claim(file))).reversed())
			.toList();
		for (Path claim : newestFirst) {
			Matcher content = CLAIM_CONTENT.matcher(Files.readString(claim));
			if (content.matches()) {
				return Pattern.compile("\\d+")
					.matcher(content.group(1))
					.results()
					.map((number) -> Long.parseLong(number.group()))
					.map(this::entry)
					.toList();
			}
		}
		return list(this.path);
	}

	private void takeClaim() throws IOException {
		FileChannel own = lock(this.path.resolve(this.owner.claim()));
		this.locks.add(own);
		this.claim = own;
		recordEarlier();
		for (Path earlier : earlierClaims()) {
			Files.deleteIfExists(earlier);
		}
	}

	private void recordEarlier() throws IOException {
		if (this.claim != null) {
			StringBuilder text = new StringBuilder(holder()).append("\nearlier checkpoints:");
			this.earlier.forEach((entry) -> text.append(' ').append(entry.step()));
			write(this.claim, text.append('\n').toString());
		}
	}

	private static long generation(Matcher claim) {
		return Long.parseLong(claim.group(2));
	}

	/**
	 * A claim stays locked while its process lives, also when the process that held the
	 * lock has ended.
	 */
	private void requireNoOtherJob() throws IOException {
		try {
			for (Path claim : claims()) {
				if (this.owner.excludes(claim(claim))) {
					lock(claim).close();
					Files.deleteIfExists(claim);
				}
			}
		}
		catch (IOException | RuntimeException ex) {
			Files.deleteIfExists(this.path.resolve(this.owner.claim()));
			throw ex;
		}
	}

	private List<Path> claims() throws IOException {
		return children(this.path, (name) -> CLAIM.matcher(name).matches());
	}

	private static Matcher claim(Path file) {
		Matcher name = CLAIM.matcher(file.getFileName().toString());
		if (!name.matches()) {
			throw new IllegalStateException(file + " is no claim");
		}
		return name;
	}

	private static FileChannel lock(Path file) throws IOException {
		FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE);
		try {
			if (channel.tryLock() != null) {
				write(channel, holder());
				return channel;
			}
		}
		catch (OverlappingFileLockException ex) {
			// The channel stays open: closing it would release this process's other lock.
			throw inUse(file, channel, ex);
		}
		catch (IOException ex) {
			channel.close();
			throw ex;
		}
		try (channel) {
			throw inUse(file, channel, null);
		}
	}

	private static void write(FileChannel channel, String text) throws IOException {
		channel.truncate(0);
		channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
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
		String known = new String(holder.array(), 0, holder.position(), StandardCharsets.UTF_8).lines()
			.findFirst()
			.orElse("");
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
		catch (UncheckedIOException ex) {
			throw ex.getCause();
		}
	}

	private static long step(Path path) {
		return Long.parseLong(path.getFileName().toString().substring(PREFIX.length()));
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
