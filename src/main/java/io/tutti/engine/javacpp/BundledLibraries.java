package io.tutti.engine.javacpp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.tutti.engine.spi.Sha256;

/**
 * The native libraries for Linux on x86-64 in the jars of the JavaCPP presets that Tutti
 * uses. A library of an extension ({@code linux-x86_64-gpu}) takes precedence over one of
 * the same name without an extension; otherwise the first on the class path is used.
 *
 * @param byName the libraries by file name
 */
record BundledLibraries(SortedMap<String, BundledLibrary> byName) {

	private static final String PLATFORM = "linux-x86_64";

	private static final List<String> PRESETS = List.of("javacpp", "openblas", "pytorch", "cuda");

	/** A library in a jar; groups: the extension, the file name. */
	private static final Pattern LIBRARY = Pattern
		.compile("org/bytedeco/(?:" + String.join("|", PRESETS) + ")/" + PLATFORM + "(-[^/]+)?/([^/]+\\.so[^/]*)");

	/**
	 * The OpenBLAS preset loads one library a second time under this name, which JavaCPP
	 * would copy.
	 */
	private static final Map<String, String> ALIASES = Map.of("libopenblas_nolapack.so.0", "libopenblas.so.0");

	private static final int KEY_BYTES = 8;

	BundledLibraries {
		byName = Collections.unmodifiableSortedMap(new TreeMap<>(byName));
	}

	/** Whether this process runs on the platform of the libraries. */
	static boolean arePossible() {
		return System.getProperty("os.name").equals("Linux") && System.getProperty("os.arch").equals("amd64");
	}

	/** Finds the libraries that a class loader sees. */
	static BundledLibraries find(ClassLoader loader) {
		SortedMap<String, BundledLibrary> found = new TreeMap<>();
		SortedMap<String, BundledLibrary> extensions = new TreeMap<>();
		try {
			for (String preset : PRESETS) {
				for (URL folder : Collections.list(loader.getResources("org/bytedeco/" + preset + "/"))) {
					collect(folder, found, extensions);
				}
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException("the jars of the JavaCPP presets cannot be read", ex);
		}
		found.putAll(extensions);
		return new BundledLibraries(found);
	}

	/** Skips plain folders: JavaCPP loads libraries from there without unpacking. */
	private static void collect(URL folder, Map<String, BundledLibrary> found, Map<String, BundledLibrary> extensions)
			throws IOException {
		if (!(folder.openConnection() instanceof JarURLConnection connection)) {
			return;
		}
		String text = folder.toString();
		String jar = text.substring(0, text.lastIndexOf("!/") + 2);
		for (JarEntry entry : Collections.list(connection.getJarFile().entries())) {
			Matcher matcher = LIBRARY.matcher(entry.getName());
			if (matcher.matches()) {
				Map<String, BundledLibrary> target = (matcher.group(1) != null) ? extensions : found;
				target.putIfAbsent(matcher.group(2),
						new BundledLibrary(URI.create(jar + entry.getName()).toURL(), entry.getSize(), entry.getCrc()));
			}
		}
	}

	boolean isEmpty() {
		return this.byName.isEmpty();
	}

	/** Aliases of libraries that are present, each mapped to the library's file name. */
	Map<String, String> aliases() {
		return this.byName.keySet().containsAll(ALIASES.values()) ? ALIASES : Map.of();
	}

	/** Hash of all names, sizes and checksums. */
	String key() {
		StringBuilder text = new StringBuilder();
		this.byName
			.forEach((name, library) -> text.append(name + " " + library.bytes() + " " + library.checksum() + "\n"));
		return HexFormat.of().formatHex(Sha256.of(text.toString().getBytes(StandardCharsets.UTF_8)), 0, KEY_BYTES);
	}

	/** Unpacked size in MB, rounded up. */
	long megabytes() {
		long bytes = this.byName.values().stream().mapToLong(BundledLibrary::bytes).sum();
		return Math.ceilDiv(bytes, 1_000_000);
	}

}
