package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A directory that is deleted with its contents when it closes or this JVM ends. What
 * cannot be deleted is left, since it must not hide a result or another failure.
 */
final class TemporaryDirectory implements AutoCloseable {

	private static final String PREFIX = "tutti-bench";

	private final Path path;

	private final Thread atExit;

	/**
	 * @throws IOException if this JVM ends, after the directory was deleted
	 */
	private TemporaryDirectory(Path path) throws IOException {
		this.path = path;
		this.atExit = new Thread(this::delete, "tutti-bench-delete");
		try {
			Runtime.getRuntime().addShutdownHook(this.atExit);
		}
		catch (IllegalStateException ex) {
			delete();
			throw new IOException("this process ends", ex);
		}
	}

	/** A new directory in that of the system. */
	static TemporaryDirectory create() throws IOException {
		return new TemporaryDirectory(Files.createTempDirectory(PREFIX));
	}

	/** A new directory in another one. */
	static TemporaryDirectory createIn(Path directory) throws IOException {
		return new TemporaryDirectory(Files.createTempDirectory(directory, PREFIX));
	}

	Path path() {
		return this.path;
	}

	private void delete() {
		try (Stream<Path> files = Files.walk(this.path)) {
			files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
		}
		catch (IOException | UncheckedIOException ex) {
			// The rest is left.
		}
	}

	@Override
	public void close() {
		delete();
		try {
			Runtime.getRuntime().removeShutdownHook(this.atExit);
		}
		catch (IllegalStateException ex) {
			// The JVM ends and runs the hook.
		}
	}

}
