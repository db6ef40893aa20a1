package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the peers' programs are built: in {@code target/bench} of the checkout that this
 * program was built in and runs from, else in a directory of its own for a while.
 */
public final class BuildDirectory implements AutoCloseable {

	/** The application layout that the build makes. */
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

	/** Removes a directory that was for this JVM alone. */
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
