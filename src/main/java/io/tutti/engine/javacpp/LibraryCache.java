package io.tutti.engine.javacpp;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;

/**
 * A folder in which processes of this machine, and of others that see it, share unpacked
 * libraries. Those of one content lie in a folder of their own, which appears complete
 * under its name: the process that holds the lock fills another folder and renames it. A
 * process that is killed leaves the lock to the next and a partial folder that the next
 * removes.
 */
final class LibraryCache {

	private final Path folder;

	private final BundledLibraries bundled;

	private final Path published;

	/**
	 * A cache that is not looked at yet.
	 * @param folder where published folders lie, which need not exist
	 * @param bundled the libraries to unpack
	 */
	LibraryCache(Path folder, BundledLibraries bundled) {
		this.folder = folder;
		this.bundled = bundled;
		this.published = folder.resolve("tutti-" + bundled.key());
	}

	/** Where published folders lie. */
	Path folder() {
		return this.folder;
	}

	/**
	 * The folder that holds the libraries, unpacked now if they are not there. Waits for
	 * another process that is unpacking them.
	 * @throws IOException if they are not there and cannot be unpacked
	 */
	Path publish() throws IOException {
		if (isPublished()) {
			return this.published;
		}
		Files.createDirectories(this.folder);
		try (FileChannel channel = FileChannel.open(sibling(".lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock _ = channel.lock()) {
			if (!isPublished()) {
				unpack(sibling(".partial"));
			}
		}
		return this.published;
	}

	private Path sibling(String suffix) {
		return this.published.resolveSibling(this.published.getFileName() + suffix);
	}

	/** By size too: programs that tidy folders up delete single files. */
	private boolean isPublished() throws IOException {
		for (Map.Entry<String, BundledLibrary> library : this.bundled.byName().entrySet()) {
			if (!isWhole(library.getKey(), library.getValue())) {
				return false;
			}
		}
		for (Map.Entry<String, String> alias : this.bundled.aliases().entrySet()) {
			if (!isWhole(alias.getKey(), this.bundled.byName().get(alias.getValue()))) {
				return false;
			}
		}
		return true;
	}

	private boolean isWhole(String name, BundledLibrary library) throws IOException {
		Path file = this.published.resolve(name);
		return Files.isRegularFile(file) && Files.size(file) == library.bytes();
	}

	private void unpack(Path partial) throws IOException {
		delete(partial);
		try {
			Files.createDirectory(partial);
			for (Map.Entry<String, BundledLibrary> library : this.bundled.byName().entrySet()) {
				try (InputStream in = library.getValue().location().openStream()) {
					Files.copy(in, partial.resolve(library.getKey()));
				}
			}
			for (Map.Entry<String, String> alias : this.bundled.aliases().entrySet()) {
				Files.createSymbolicLink(partial.resolve(alias.getKey()), Path.of(alias.getValue()));
			}
			delete(this.published);
			Files.move(partial, this.published, StandardCopyOption.ATOMIC_MOVE);
		}
		catch (IOException ex) {
			deleteAfter(ex, partial);
			throw ex;
		}
	}

	/** Gives back the space that a full disk lacks. */
	private static void deleteAfter(IOException failure, Path partial) {
		try {
			delete(partial);
		}
		catch (IOException ex) {
			failure.addSuppressed(ex);
		}
	}

	private static void delete(Path folder) throws IOException {
		if (!Files.exists(folder)) {
			return;
		}
		Files.walkFileTree(folder, new SimpleFileVisitor<>() {
			@Override
			public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
				Files.delete(file);
				return FileVisitResult.CONTINUE;
			}

			@Override
			public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
				Files.delete(visited);
				return FileVisitResult.CONTINUE;
			}
		});
	}

}
