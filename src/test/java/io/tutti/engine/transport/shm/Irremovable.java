package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A directory with content in place of a segment's file, which fails an unlink.
 */
final class Irremovable {

	private Irremovable() {
	}

	static void replaceIn(Path directory) throws IOException {
		try (Stream<Path> files = Files.list(directory)) {
			for (Path file : files.toList()) {
				Files.delete(file);
				Files.createFile(Files.createDirectory(file).resolve("content"));
			}
		}
	}

}
