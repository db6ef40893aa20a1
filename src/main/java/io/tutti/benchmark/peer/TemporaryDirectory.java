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

	private final ExitHook atExit;

	/**
	 * @throws IOException if this JVM ends, after the directory was deleted
	 */
	private TemporaryDirectory(Path path) throws IOException {
		this.path = path;
		try {
			this.atExit = ExitHook.add("tutti-bench-delete", this::delete);
		}
		catch (IOException ex) {
			delete();
			throw ex;
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
		this.atExit.close();
	}

}
