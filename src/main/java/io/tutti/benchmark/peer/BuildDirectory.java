package io.tutti.benchmark.peer;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

/**
 * The directory in which the peers' programs are built: {@code target/bench} of the
 * source checkout if this program runs from one, else a temporary directory.
 */
public final class BuildDirectory implements AutoCloseable {

	/** The application layout that the build creates. */
	private static final Path APPLICATION = Path.of("target", "app");

	private final Path path;

	private final @Nullable TemporaryDirectory temporary;

	private BuildDirectory(Path path, @Nullable TemporaryDirectory temporary) {
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
				&& isWritable(target.resolve("bench"))) {
			return new BuildDirectory(target.resolve("bench"), null);
		}
		TemporaryDirectory created = TemporaryDirectory.create();
		return new BuildDirectory(created.path(), created);
	}

	/** Whether files can be created in the directory, or the directory itself. */
	private static boolean isWritable(Path directory) {
		return Files.isWritable(Files.exists(directory) ? directory : directory.getParent());
	}

	/** The directory, which need not exist yet. */
	public Path path() {
		return this.path;
	}

	/** Deletes the directory if it is temporary, as far as possible. */
	@Override
	public void close() {
		if (this.temporary != null) {
			this.temporary.close();
		}
	}

}
