package io.tutti.engine.javacpp;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.FailureReason;
import org.jspecify.annotations.Nullable;

/**
 * Makes JavaCPP load libtorch and the CUDA bindings from files that no process is still
 * writing.
 * <p>
 * JavaCPP unpacks a library from its jar into a cache on first use, and processes that do
 * so concurrently crash (bytedeco/javacpp issue 608). Therefore all code in Tutti that
 * uses JavaCPP calls {@link #prepare()} first. In the application layout the unpacked
 * libraries are beside the jar and are loaded from there. Otherwise one process unpacks
 * them into a private folder in JavaCPP's cache and publishes the folder with a rename;
 * other processes wait.
 * <p>
 * Preparation has no effect once JavaCPP has loaded a library: a program that uses
 * libtorch before it first calls Tutti must call {@link #prepare()} itself.
 */
public final class NativeLibraryPreparation {

	/** System property: the folder for unpacked libraries, used by JavaCPP and Tutti. */
	public static final String CACHE_PROPERTY = "org.bytedeco.javacpp.cachedir";

	private static final String CACHING_PROPERTY = "org.bytedeco.javacpp.cachelibraries";

	/** Disabled, because JavaCPP would create links in the application layout. */
	private static final String LINKS_PROPERTY = "org.bytedeco.javacpp.canCreateSymbolicLink";

	/**
	 * Disabled where the JVM finds all libraries: JavaCPP looks for each in every jar.
	 */
	private static final String FINDING_PROPERTY = "org.bytedeco.javacpp.findLibraries";

	private static final String PATHS_FIRST_PROPERTY = "org.bytedeco.javacpp.pathsFirst";

	private static final String LIBRARY_PATH_PROPERTY = "java.library.path";

	/** The first library that JavaCPP loads. */
	private static final String FIRST_LIBRARY = "libjnijavacpp.so";

	/** The folder of unpacked libraries in the application layout, beside the jar. */
	private static final String LAYOUT_FOLDER = "natives";

	/** Present where NVIDIA's driver is: CUDA's own libraries lie in other folders. */
	private static final Path GPU = Path.of("/dev/nvidiactl");

	private static final int ROOT = 0;

	private static boolean prepared;

	private NativeLibraryPreparation() {
	}

	/**
	 * Prepares this process. Returns at once if the libraries are not on the class path,
	 * if JavaCPP's own properties disable caching
	 * ({@code org.bytedeco.javacpp.cachelibraries=false}), if JavaCPP has already loaded
	 * a library, or if this is not Linux on x86-64. Thread-safe and idempotent.
	 * @throws BackendUnavailableException if the libraries cannot be unpacked; the
	 * message names the folder and the property that changes it
	 */
	public static synchronized void prepare() {
		if (prepared) {
			return;
		}
		// JavaCPP reads its properties until it loads its first library.
		if (BundledLibraries.arePossible() && caches(System.getProperties()) && loaded(FIRST_LIBRARY).isEmpty()) {
			prepare(System.getProperties(), NativeLibraryPreparation.class.getClassLoader(), layoutFolder());
		}
		prepared = true;
	}

	/** Sets the properties that JavaCPP reads when it is first used. */
	static void prepare(Properties properties, ClassLoader loader, @Nullable Path layoutFolder) {
		if (layoutFolder != null) {
			if (isOnLibraryPath(layoutFolder, properties) && !Files.exists(GPU)) {
				properties.setProperty(FINDING_PROPERTY, "false");
			}
			else {
				loadFrom(layoutFolder, properties);
			}
			properties.setProperty(CACHING_PROPERTY, "false");
			properties.setProperty(LINKS_PROPERTY, "false");
			return;
		}
		BundledLibraries bundled = BundledLibraries.find(loader);
		if (bundled.isEmpty()) {
			return;
		}
		LibraryCache cache = new LibraryCache(cacheFolder(properties), bundled, NativeLibraryPreparation::isOwnOrRoot);
		try {
			loadFrom(cache.publish(), properties);
			// JavaCPP treats a renamed library as cached only in its own cache folder.
			properties.setProperty(CACHE_PROPERTY, cache.folder().toString());
		}
		catch (IOException ex) {
			throw unavailable(cache, bundled, ex);
		}
	}

	private static boolean isOwnOrRoot(int uid) {
		try {
			return uid == ROOT || uid == ((Number) Files.getAttribute(Path.of("/proc/self"), "unix:uid")).intValue();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Whether the JVM was started with the folder in its library path. */
	private static boolean isOnLibraryPath(Path folder, Properties properties) {
		String path = properties.getProperty(LIBRARY_PATH_PROPERTY, "");
		return Stream.of(path.split(File.pathSeparator)).anyMatch((entry) -> isSame(folder, entry));
	}

	private static boolean isSame(Path folder, String entry) {
		try {
			return !entry.isEmpty() && Files.isSameFile(folder, Path.of(entry));
		}
		catch (IOException ex) {
			return false;
		}
	}

	private static void loadFrom(Path folder, Properties properties) {
		String others = properties.getProperty(LIBRARY_PATH_PROPERTY, "");
		properties.setProperty(LIBRARY_PATH_PROPERTY,
				others.isEmpty() ? folder.toString() : folder + File.pathSeparator + others);
		properties.setProperty(PATHS_FIRST_PROPERTY, "true");
	}

	private static boolean caches(Properties properties) {
		String value = properties.getProperty("org.bytedeco.javacpp.cacheLibraries",
				properties.getProperty(CACHING_PROPERTY, "true"));
		return value.isEmpty() || value.equalsIgnoreCase("true") || value.equalsIgnoreCase("t");
	}

	/**
	 * JavaCPP's default folder, but without its silent fallback to the temporary folder.
	 */
	private static Path cacheFolder(Properties properties) {
		String folder = properties.getProperty(CACHE_PROPERTY, properties.getProperty("org.bytedeco.javacpp.cacheDir"));
		return Path.of((folder != null) ? folder : properties.getProperty("user.home") + "/.javacpp/cache")
			.toAbsolutePath();
	}

	/** The file of a library that this process has loaded, by its file name. */
	public static Optional<Path> loaded(String name) {
		try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
			return mappings.filter((line) -> line.endsWith("/" + name))
				.map((line) -> Path.of(line.substring(line.indexOf('/'))))
				.findFirst();
		}
		catch (IOException ex) {
			return Optional.empty();
		}
	}

	/** The folder of unpacked libraries beside this class's jar, or {@code null}. */
	private static @Nullable Path layoutFolder() {
		CodeSource source = NativeLibraryPreparation.class.getProtectionDomain().getCodeSource();
		// A class from an AOT cache whose jar was moved since has no location.
		URL location = (source != null) ? source.getLocation() : null;
		URI jar = URI.create((location != null) ? location.toString() : "none:");
		if (!"file".equals(jar.getScheme())) {
			return null;
		}
		Path folder = Path.of(jar).resolveSibling(LAYOUT_FOLDER);
		return Files.exists(folder.resolve(FIRST_LIBRARY)) ? folder : null;
	}

	private static BackendUnavailableException unavailable(LibraryCache cache, BundledLibraries bundled,
			IOException failure) {
		return new BackendUnavailableException("libtorch",
				"its native libraries cannot be unpacked into " + cache.folder() + ": " + FailureReason.of(failure),
				"Give the user a writable folder there with " + bundled.megabytes()
						+ " MB free, or name another one that only this user can write to in the system property "
						+ CACHE_PROPERTY + " (-D" + CACHE_PROPERTY + "=FOLDER)",
				failure);
	}

}
