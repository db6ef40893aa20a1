package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The directory in which the peers' programs are built: {@code target/bench} of the
 * source checkout if this program runs from one, else a temporary directory.
 */
public final class BuildDirectory implements AutoCloseable {

	/** The application layout that the build creates. */
	private static final Path APPLICATION = Path.of("target", "app");

	private final Path path;

	private final boolean temporary;

	private BuildDirectory(Path path, boolean temporary) {
		this.path = path;
		this.temporary = temporary;
	}

	/** The directory for this JVM. */
	public static BuildDirectory ofThisJvm() throws IOException {
		return of(System.getProperty("java.class.path"));
	}

	static BuildDirectory of(String classPath) throws IOException {
		Path folder = Path.of(classPath.split(File.pathSeparator)[0]).toAbsolutePath().normalize().getParent();
		Path target = (folder != null && folder.endsWith(APPLICATION)) ? folder.getParent() : folder;
		if (target != null && target.endsWith("target") && Files.isDirectory(target.resolveSibling("src/bench"))
				&& Files.isWritable(target)) {
			return new BuildDirectory(target.resolve("bench"), false);
		}
		return new BuildDirectory(Files.createTempDirectory("tutti-bench"), true);
	}

	/** The directory, which need not exist yet. */
	public Path path() {
		return this.path;
	}

	/** Removes the directory if it is temporary. */
	@Override
	public void close() throws IOException {
		if (!this.temporary) {
			return;
		}
		try (var files = Files.list(this.path)) {
			for (Path file : files.toList()) {
				Files.deleteIfExists(file);
			}
		}
		Files.deleteIfExists(this.path);
	}

}
