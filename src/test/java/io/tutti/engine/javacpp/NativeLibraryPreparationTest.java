package io.tutti.engine.javacpp;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

import io.tutti.BackendUnavailableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * JavaCPP's properties and cache content for jars that the test creates.
 */
@Timeout(60)
class NativeLibraryPreparationTest {

	private static final String TORCH = "org/bytedeco/pytorch/linux-x86_64";

	@TempDir
	private Path directory;

	private Path cache;

	private final Properties properties = new Properties();

	@BeforeEach
	void nameTheCache() {
		this.cache = this.directory.resolve("cache");
		this.properties.setProperty("org.bytedeco.javacpp.cachedir", this.cache.toString());
		this.properties.setProperty("java.library.path", "/usr/lib");
	}

	@Test
	void librariesAreUnpackedIntoOneFolderThatJavaCppSearchesFirst() throws Exception {
		prepare(jar("torch.jar",
				Map.of(TORCH + "/libtorch.so", "torch", TORCH + "/libgomp.so.1", "gomp", TORCH + "/torch.cpp", "source",
						"org/bytedeco/opencv/linux-x86_64/libopencv.so", "other")),
				jar("blas.jar", Map.of("org/bytedeco/openblas/linux-x86_64/libopenblas.so.0", "blas",
						"org/bytedeco/openblas/linux-x86_64/include/x.so", "header")));
		Path folder = published();
		assertThat(contents(folder)).containsExactlyInAnyOrder("libgomp.so.1=gomp", "libopenblas.so.0=blas",
				"libopenblas_nolapack.so.0=blas", "libtorch.so=torch");
		assertThat(this.properties).containsEntry("java.library.path", folder + File.pathSeparator + "/usr/lib")
			.containsEntry("org.bytedeco.javacpp.pathsFirst", "true")
			.containsEntry("org.bytedeco.javacpp.cachedir", this.cache.toString())
			.doesNotContainKey("org.bytedeco.javacpp.cachelibraries");
	}

	@Test
	void extensionLibrariesTakePrecedence() throws Exception {
		prepare(jar("torch.jar", Map.of(TORCH + "/libtorch.so", "plain", TORCH + "/libc10.so", "plain")),
				jar("torch-gpu.jar", Map.of(TORCH + "-gpu/libtorch.so", "for GPUs")));
		assertThat(contents(published())).containsExactlyInAnyOrder("libc10.so=plain", "libtorch.so=for GPUs");
	}

	@Test
	void differentLibrariesHaveDifferentFolders() throws Exception {
		prepare(jar("one.jar", Map.of(TORCH + "/libtorch.so", "one")));
		prepare(jar("two.jar", Map.of(TORCH + "/libtorch.so", "two")));
		try (Stream<Path> folders = Files.list(this.cache).filter(Files::isDirectory)) {
			assertThat(folders).hasSize(2);
		}
	}

	@Test
	void thePartialFolderOfAKilledProcessIsRemoved() throws Exception {
		Path jar = jar("torch.jar", Map.of(TORCH + "/libtorch.so", "torch"));
		prepare(jar);
		Path folder = published();
		Path partial = folder.resolveSibling(folder.getFileName() + ".partial");
		Files.move(folder, partial);
		Files.writeString(partial.resolve("libtorch.so"), "to");
		prepare(jar);
		assertThat(contents(folder)).containsExactly("libtorch.so=torch");
		assertThat(partial).doesNotExist();
	}

	@Test
	void aFolderWithAMissingFileIsUnpackedAgain() throws Exception {
		Path jar = jar("torch.jar", Map.of(TORCH + "/libtorch.so", "torch", TORCH + "/libc10.so", "c10"));
		prepare(jar);
		Files.delete(published().resolve("libc10.so"));
		prepare(jar);
		assertThat(contents(published())).containsExactlyInAnyOrder("libc10.so=c10", "libtorch.so=torch");
	}

	@Test
	void aPublishedFolderIsUsedWithoutWriting() throws Exception {
		Path jar = jar("torch.jar", Map.of(TORCH + "/libtorch.so", "torch"));
		prepare(jar);
		Path folder = published();
		Files.delete(folder.resolveSibling(folder.getFileName() + ".lock"));
		prepare(jar);
		assertThat(folder.resolveSibling(folder.getFileName() + ".lock")).doesNotExist();
	}

	@Test
	void aCacheThatCannotBeCreatedIsAnErrorThatNamesTheSetting() throws Exception {
		Files.writeString(this.cache, "no folder");
		Path jar = jar("torch.jar", Map.of(TORCH + "/libtorch.so", "torch"));
		assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(() -> prepare(jar))
			.withMessageContainingAll(this.cache.toString(), "-Dorg.bytedeco.javacpp.cachedir=", "1 MB")
			.withCauseInstanceOf(IOException.class);
	}

	/** The folder of the cache may be one in which every user can write. */
	@Test
	void aPublishedFolderOfAnotherUserIsRefused() throws Exception {
		prepare(jar("torch.jar", Map.of(TORCH + "/libtorch.so", "torch")));
		try (URLClassLoader loader = loader(this.directory.resolve("torch.jar"))) {
			BundledLibraries bundled = BundledLibraries.find(loader);
			assertThat(new LibraryCache(this.cache, bundled, (uid) -> true).publish()).isEqualTo(published());
			assertThatExceptionOfType(IOException.class)
				.isThrownBy(() -> new LibraryCache(this.cache, bundled, (uid) -> false).publish())
				.withMessageStartingWith(published() + " belongs to another user (uid ")
				.withMessageEndingWith("so its libraries are not loaded; remove it");
		}
	}

	@Test
	void withoutLibrariesNoPropertyIsSet() throws Exception {
		Properties before = (Properties) this.properties.clone();
		prepare(jar("bindings.jar", Map.of("org/bytedeco/pytorch/Tensor.class", "")));
		assertThat(this.properties).isEqualTo(before);
		assertThat(this.cache).doesNotExist();
	}

	@Test
	@DisabledIf("hasGpu")
	void librariesOfTheLayoutAreNotLookedForWhereTheJvmFindsThem() throws Exception {
		Path natives = Files.createDirectory(this.directory.resolve("natives"));
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), this.directory);
		String path = "/usr/lib" + File.pathSeparator + link.resolve("natives");
		this.properties.setProperty("java.library.path", path);
		try (URLClassLoader loader = new URLClassLoader(new URL[0], null)) {
			NativeLibraryPreparation.prepare(this.properties, loader, natives);
		}
		assertThat(this.properties).containsEntry("java.library.path", path)
			.containsEntry("org.bytedeco.javacpp.findLibraries", "false")
			.containsEntry("org.bytedeco.javacpp.cachelibraries", "false");
	}

	static boolean hasGpu() {
		return Files.exists(Path.of("/dev/nvidiactl"));
	}

	@Test
	void librariesOfTheLayoutAreLoadedInPlace() throws Exception {
		Path natives = Files.createDirectory(this.directory.resolve("natives"));
		try (URLClassLoader loader = new URLClassLoader(new URL[0], null)) {
			NativeLibraryPreparation.prepare(this.properties, loader, natives);
		}
		assertThat(this.properties).containsEntry("java.library.path", natives + File.pathSeparator + "/usr/lib")
			.containsEntry("org.bytedeco.javacpp.pathsFirst", "true")
			.containsEntry("org.bytedeco.javacpp.cachelibraries", "false")
			.containsEntry("org.bytedeco.javacpp.canCreateSymbolicLink", "false")
			.doesNotContainKey("org.bytedeco.javacpp.findLibraries");
		assertThat(this.cache).doesNotExist();
	}

	private void prepare(Path... jars) throws IOException {
		try (URLClassLoader loader = loader(jars)) {
			this.properties.setProperty("java.library.path", "/usr/lib");
			NativeLibraryPreparation.prepare(this.properties, loader, null);
		}
	}

	private static URLClassLoader loader(Path... jars) throws IOException {
		URL[] urls = new URL[jars.length];
		for (int i = 0; i < jars.length; i++) {
			urls[i] = jars[i].toUri().toURL();
		}
		return new URLClassLoader(urls, null);
	}

	private Path published() {
		return Path.of(this.properties.getProperty("java.library.path").split(File.pathSeparator)[0]);
	}

	private static List<String> contents(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			return files.map((file) -> file.getFileName() + "=" + text(file)).toList();
		}
	}

	private static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	/** A jar with folder entries, like the presets' jars. */
	private Path jar(String name, Map<String, String> entries) throws IOException {
		Path jar = this.directory.resolve(name);
		try (OutputStream out = Files.newOutputStream(jar); JarOutputStream content = new JarOutputStream(out)) {
			for (String folder : List.of("pytorch", "openblas")) {
				content.putNextEntry(new JarEntry("org/bytedeco/" + folder + "/"));
			}
			for (Map.Entry<String, String> entry : entries.entrySet()) {
				content.putNextEntry(new JarEntry(entry.getKey()));
				content.write(entry.getValue().getBytes());
			}
		}
		return jar;
	}

}
