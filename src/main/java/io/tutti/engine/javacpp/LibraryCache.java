package io.tutti.engine.javacpp;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.function.IntPredicate;

/**
 * A folder in which processes on this machine, and on others that mount it, share
 * unpacked libraries. Each set of libraries has its own folder, named after a hash of
 * their names, sizes and checksums. The process that holds the file lock fills a partial
 * folder and renames it, so the published folder is always complete. If that process is
 * killed, the next one acquires the lock and removes the partial folder.
 */
final class LibraryCache {

	private final Path folder;

	private final BundledLibraries bundled;

	private final Path published;

	private final IntPredicate trusted;

	/**
	 * Creates a cache without accessing the folder.
	 * @param folder parent of the published folders; need not exist
	 * @param bundled the libraries to unpack
	 * @param trusted the uids of the users whose published folders may be used
	 */
	LibraryCache(Path folder, BundledLibraries bundled, IntPredicate trusted) {
		this.folder = folder;
		this.bundled = bundled;
		this.trusted = trusted;
		this.published = folder.resolve("tutti-" + bundled.key());
	}

	/** Parent of the published folders. */
	Path folder() {
		return this.folder;
	}

	/**
	 * Returns the folder with the libraries and unpacks them if they are missing. Waits
	 * if another process is unpacking them.
	 * @throws IOException if they are missing and cannot be unpacked, or if another user
	 * than root has put them there
	 */
	Path publish() throws IOException {
		if (!isPublished()) {
			unpackOnce();
		}
		requireTrusted();
		return this.published;
	}

	private void unpackOnce() throws IOException {
		Files.createDirectories(this.folder);
		try (FileChannel channel = FileChannel.open(sibling(".lock"), StandardOpenOption.CREATE,
				StandardOpenOption.WRITE); FileLock _ = channel.lock()) {
			if (!isPublished()) {
				unpack(sibling(".partial"));
			}
		}
	}

	/** Loading a library runs its code, and a link may lead to any folder. */
	private void requireTrusted() throws IOException {
		int owner = ((Number) Files.getAttribute(this.published, "unix:uid", LinkOption.NOFOLLOW_LINKS)).intValue();
		if (!this.trusted.test(owner)) {
			throw new IOException(this.published + " belongs to another user (uid " + owner
					+ "), so its libraries are not loaded; remove it");
		}
	}

	private Path sibling(String suffix) {
		return this.published.resolveSibling(this.published.getFileName() + suffix);
	}

	/** Checks every file and its size, since clean-up programs delete single files. */
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

	/** Deletes the partial folder, which may have filled the disk. */
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
