package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The programs of the page about a user's own network, compiled, and the jar of its task.
 */
public final class TaskJar {

	private static final Path PROGRAMS = Path.of("src/test/samples/task");

	private TaskJar() {
	}

	/**
	 * Compiles the programs into {@code classes} and writes {@code fit.jar}, both in a
	 * folder.
	 */
	public static void write(Path folder) throws IOException {
		Path classes = Files.createDirectory(folder.resolve("classes"));
		List<String> arguments = Stream
			.concat(Stream.of("-classpath", classPath(), "-d", classes.toString(), "-proc:none"),
					programs().stream().map(Path::toString))
			.toList();
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
			.isZero();
		try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(folder.resolve("fit.jar")))) {
			for (Path type : files(classes.resolve("com/acme"))) {
				jar.putNextEntry(new JarEntry("com/acme/" + type.getFileName()));
				Files.copy(type, jar);
			}
			jar.putNextEntry(
					new JarEntry("META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports"));
			jar.write("com.acme.FitConfiguration\n".getBytes(StandardCharsets.US_ASCII));
		}
	}

	static String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().toString())
			.collect(Collectors.joining(File.pathSeparator));
	}

	static List<Path> programs() throws IOException {
		return files(PROGRAMS);
	}

	private static List<Path> files(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			return files.sorted().toList();
		}
	}

}
