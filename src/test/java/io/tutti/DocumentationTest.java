package io.tutti;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Every public type and method that a program imports has a docstring with its
 * parameters, result and checked exceptions, and every link in it resolves.
 */
@Timeout(120)
class DocumentationTest {

	private static final List<String> PACKAGES = List.of("io/tutti", "io/tutti/engine", "io/tutti/engine/backend/mpi",
			"io/tutti/engine/backend/nccl", "io/tutti/engine/device", "io/tutti/launch/standalone", "io/tutti/testing",
			"io/tutti/training", "io/tutti/training/checkpoint", "io/tutti/training/job", "io/tutti/training/table",
			"io/tutti/training/task");

	@TempDir
	private Path folder;

	@Test
	void everyPublicMethodIsDocumented() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(found, Locale.ROOT, null)) {
			List<String> options = List.of("-Xdoclint:all/public", "-proc:none", "-Xmaxwarns", "1000", "-classpath",
					System.getProperty("java.class.path"), "-d", this.folder.toString());
			boolean compiled = compiler
				.getTask(Writer.nullWriter(), files, found, options, null, files.getJavaFileObjectsFromPaths(sources()))
				.call();
			assertThat(compiled).as(found.getDiagnostics().toString()).isTrue();
		}
		assertThat(found.getDiagnostics())
			.filteredOn((diagnostic) -> diagnostic.getSource() != null && diagnostic.getKind() != Diagnostic.Kind.NOTE)
			.extracting(DocumentationTest::described)
			.isEmpty();
	}

	private static String described(Diagnostic<? extends JavaFileObject> diagnostic) {
		return diagnostic.getSource().getName() + ":" + diagnostic.getLineNumber() + ": "
				+ diagnostic.getMessage(Locale.ROOT);
	}

	private static List<Path> sources() throws IOException {
		List<Path> sources = new ArrayList<>();
		for (String each : PACKAGES) {
			try (Stream<Path> files = Files.list(Path.of("src/main/java", each))) {
				files.filter((file) -> file.toString().endsWith(".java")).forEach(sources::add);
			}
		}
		return sources;
	}

}
