package io.tutti.endtoend;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program may import Tutti and the PyTorch presets with wildcards. Only the names that
 * the guide lists need an import of their own.
 */
@Timeout(120)
class ImportedNamesTest {

	/** The packages that programs import. */
	private static final List<String> PACKAGES = List.of("io.tutti", "io.tutti.training",
			"io.tutti.training.checkpoint", "io.tutti.training.job", "io.tutti.training.table",
			"io.tutti.training.task", "io.tutti.testing", "io.tutti.engine.backend.mpi", "io.tutti.engine.device");

	private static final List<String> OTHER_WILDCARDS = List.of("org.bytedeco.pytorch.*", "org.bytedeco.javacpp.*",
			"java.lang.foreign.*", "java.nio.*", "java.time.*", "java.util.*");

	private static final String PRESETS = "org/bytedeco/pytorch/";

	@TempDir
	private Path folder;

	private record Type(String packageName, String name) {

		boolean isAmbiguous() {
			return ImportedNamesTest.class.getClassLoader().getResource(PRESETS + this.name + ".class") != null;
		}

		String singleImport() {
			return this.packageName + "." + this.name;
		}

	}

	private static List<Type> types() throws IOException {
		return PACKAGES.stream().flatMap(ImportedNamesTest::types).toList();
	}

	private static Stream<Type> types(String packageName) {
		Path sources = Path.of("src/main/java").resolve(packageName.replace('.', '/'));
		try (Stream<Path> files = Files.list(sources)) {
			return files.filter(ImportedNamesTest::isPublicType)
				.map((file) -> new Type(packageName, file.getFileName().toString().replace(".java", "")))
				.toList()
				.stream();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	private static boolean isPublicType(Path file) {
		try {
			return file.toString().endsWith(".java")
					&& Pattern.compile("^public [^=(]*(class|interface|enum|record) ", Pattern.MULTILINE)
						.matcher(Files.readString(file))
						.find();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void theGuideListsTheAmbiguousNames() throws IOException {
		List<String> ambiguous = types().stream().filter(Type::isAmbiguous).map(Type::name).toList();
		assertThat(ambiguous).containsExactlyInAnyOrder("ProcessGroup", "ReduceOp", "Work");
		String guide = Files.readString(Path.of("src/docs/guide.md")).replaceAll("\\s+", " ");
		assertThat(guide).contains("types named `ProcessGroup`, `ReduceOp` and `Work`");
	}

	@Test
	void everyNameCompilesWithWildcardsAndSingleImportsOfTheAmbiguousOnes() throws IOException {
		Stream<String> wildcards = PACKAGES.stream().map((name) -> name + ".*");
		Stream<String> single = types().stream().filter(Type::isAmbiguous).map(Type::singleImport);
		assertThat(errors(Stream.concat(wildcards, single), types())).isEmpty();
	}

	@Test
	void everyNameCompilesWithSingleImports() throws IOException {
		assertThat(errors(types().stream().map(Type::singleImport), types())).isEmpty();
	}

	/** Shows that the other tests can fail. */
	@Test
	void anAmbiguousNameDoesNotCompileWithWildcardsAlone() throws IOException {
		List<Type> ambiguous = types().stream().filter(Type::isAmbiguous).toList();
		String errors = errors(PACKAGES.stream().map((name) -> name + ".*"), ambiguous);
		assertThat(ambiguous)
			.allSatisfy((type) -> assertThat(errors).contains("reference to " + type.name() + " is ambiguous"));
	}

	private String errors(Stream<String> imports, List<Type> used) {
		String program = Stream.concat(imports, OTHER_WILDCARDS.stream())
			.map((name) -> "import " + name + ";\n")
			.collect(Collectors.joining())
				+ used.stream()
					.map((type) -> "    Class<?> TYPE_" + type.name() + " = " + type.name() + ".class;\n")
					.collect(Collectors.joining("", "class Program {\n", "}\n"));
		JavaFileObject source = new SimpleJavaFileObject(URI.create("string:///Program.java"),
				JavaFileObject.Kind.SOURCE) {
			@Override
			public CharSequence getCharContent(boolean ignoreEncodingErrors) {
				return program;
			}
		};
		StringWriter errors = new StringWriter();
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		boolean compiled = compiler
			.getTask(errors, null, null, List.of("-classpath", System.getProperty("java.class.path"), "-d",
					this.folder.toString(), "-proc:none"), null, List.of(source))
			.call();
		return compiled ? "" : errors.toString();
	}

}
