package io.tutti.engine.javacpp;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Properties;
import java.util.stream.Stream;

import io.tutti.engine.BackendUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Makes JavaCPP load libtorch and the bindings of CUDA from files that no process writes
 * any more.
 * <p>
 * JavaCPP itself unpacks a library from its jar into a cache when the library is first
 * used, and processes that do so at once crash (bytedeco/javacpp issue 608). Therefore
 * everything in Tutti that uses JavaCPP calls {@link #prepare()} first. In the
 * application layout the libraries lie unpacked beside the jar and are loaded from there.
 * Elsewhere one process unpacks them into a private folder in JavaCPP's cache and
 * publishes it by a rename; the others wait.
 * <p>
 * Nothing can be done for a process in which JavaCPP has loaded a library already: a
 * program that uses libtorch before its first call of Tutti must call {@link #prepare()}
 * itself.
 */
public final class NativeLibraryPreparation {

	/** Where JavaCPP, and Tutti for it, may write unpacked libraries. */
	public static final String CACHE_PROPERTY = "org.bytedeco.javacpp.cachedir";

	private static final String CACHING_PROPERTY = "org.bytedeco.javacpp.cachelibraries";

	/** JavaCPP's links beside a library would change the layout. */
	private static final String LINKS_PROPERTY = "org.bytedeco.javacpp.canCreateSymbolicLink";

	private static final String PATHS_FIRST_PROPERTY = "org.bytedeco.javacpp.pathsFirst";

	private static final String LIBRARY_PATH_PROPERTY = "java.library.path";

	/** The first library that JavaCPP loads. */
	private static final String FIRST_LIBRARY = "libjnijavacpp.so";

	/** The folder of unpacked libraries in the application layout, beside the jar. */
	private static final String LAYOUT_FOLDER = "natives";

	private static boolean prepared;

	private NativeLibraryPreparation() {
	}

	/**
	 * Prepares this process. Returns at once where there is nothing to do: the libraries
	 * are not on the class path, JavaCPP is set up by its own properties to cache none
	 * ({@code org.bytedeco.javacpp.cachelibraries=false}), it has loaded one already, or
	 * this is not Linux on x86-64. From any thread, any number of times.
	 * @throws BackendUnavailableException if the libraries have to be unpacked and cannot
	 * be; the message names the folder and the property that moves it
	 */
	public static synchronized void prepare() {
		if (prepared) {
			return;
		}
		if (BundledLibraries.arePossible() && caches(System.getProperties()) && !isInUse()) {
			prepare(System.getProperties(), NativeLibraryPreparation.class.getClassLoader(), layoutFolder());
		}
		prepared = true;
	}

	/** Sets the properties that JavaCPP reads when it is first used. */
	static void prepare(Properties properties, ClassLoader loader, @Nullable Path layoutFolder) {
		if (layoutFolder != null) {
			loadFrom(layoutFolder, properties);
			properties.setProperty(CACHING_PROPERTY, "false");
			properties.setProperty(LINKS_PROPERTY, "false");
			return;
		}
		BundledLibraries bundled = BundledLibraries.find(loader);
		if (bundled.isEmpty()) {
			return;
		}
		LibraryCache cache = new LibraryCache(cacheFolder(properties), bundled);
		try {
			loadFrom(cache.publish(), properties);
			// A library that JavaCPP renames counts as cached only in its own cache
			// folder.
			properties.setProperty(CACHE_PROPERTY, cache.folder().toString());
		}
		catch (IOException ex) {
			throw unavailable(cache, bundled, ex);
		}
	}

	private static void loadFrom(Path folder, Properties properties) {
		String others = properties.getProperty(LIBRARY_PATH_PROPERTY, "");
		properties.setProperty(LIBRARY_PATH_PROPERTY,
				others.isEmpty() ? folder.toString() : folder + File.pathSeparator + others);
		properties.setProperty(PATHS_FIRST_PROPERTY, "true");
	}

	private static boolean caches(Properties properties) {
		String word = properties.getProperty("org.bytedeco.javacpp.cacheLibraries",
				properties.getProperty(CACHING_PROPERTY, "true"));
		return word.isEmpty() || word.equalsIgnoreCase("true") || word.equalsIgnoreCase("t");
	}

	/** JavaCPP's own choice, but never the folder for temporary files in silence. */
	private static Path cacheFolder(Properties properties) {
		String folder = properties.getProperty(CACHE_PROPERTY, properties.getProperty("org.bytedeco.javacpp.cacheDir"));
		return Path.of((folder != null) ? folder : properties.getProperty("user.home") + "/.javacpp/cache")
			.toAbsolutePath();
	}

	/** Whether JavaCPP has loaded a library, so that its properties are read no more. */
	private static boolean isInUse() {
		try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
			return maps.anyMatch((line) -> line.endsWith(FIRST_LIBRARY));
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Where this class was loaded from a jar that has the libraries beside it. */
	private static @Nullable Path layoutFolder() {
		CodeSource source = NativeLibraryPreparation.class.getProtectionDomain().getCodeSource();
		URI jar = (source != null) ? URI.create(source.getLocation().toString()) : URI.create("none:");
		if (!"file".equals(jar.getScheme())) {
			return null;
		}
		Path folder = Path.of(jar).resolveSibling(LAYOUT_FOLDER);
		return Files.exists(folder.resolve(FIRST_LIBRARY)) ? folder : null;
	}

	private static BackendUnavailableException unavailable(LibraryCache cache, BundledLibraries bundled,
			IOException failure) {
		BackendUnavailableException unavailable = new BackendUnavailableException("libtorch",
				"its native libraries cannot be unpacked into " + cache.folder() + ": " + failure,
				"Give the user a writable folder there with " + bundled.megabytes()
						+ " MB free, or name another one in the system property " + CACHE_PROPERTY + " (such as -D"
						+ CACHE_PROPERTY + "=/var/tmp/javacpp)");
		unavailable.initCause(failure);
		return unavailable;
	}

}
