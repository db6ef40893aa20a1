package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A directory that is deleted with its contents when it closes. What cannot be deleted is
 * left, since it must not hide a result or another failure.
 */
record TemporaryDirectory(Path path) implements AutoCloseable {

	private static final String PREFIX = "tutti-bench";

	/** A new directory in that of the system. */
	static TemporaryDirectory create() throws IOException {
		return new TemporaryDirectory(Files.createTempDirectory(PREFIX));
	}

	/** A new directory in another one. */
	static TemporaryDirectory createIn(Path directory) throws IOException {
		return new TemporaryDirectory(Files.createTempDirectory(directory, PREFIX));
	}

	/** The path of a file in it, which is also deleted with it when this JVM ends. */
	Path file(String name) {
		Path file = this.path.resolve(name);
		this.path.toFile().deleteOnExit();
		file.toFile().deleteOnExit();
		return file;
	}

	@Override
	public void close() {
		try (Stream<Path> files = Files.walk(this.path)) {
			files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
		}
		catch (IOException | UncheckedIOException ex) {
			// The rest is left.
		}
	}

}
