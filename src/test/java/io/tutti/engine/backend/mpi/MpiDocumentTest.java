package io.tutti.engine.backend.mpi;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The document's example equals the compiled one, and every method in its table exists.
 */
@Timeout(30)
@Isolated
class MpiDocumentTest {

	private static final Path DOCUMENT = Path.of("src/docs/mpi.md");

	private static final Path EXAMPLE = Path.of("src/test/java/io/tutti/engine/backend/mpi/PiExample.java");

	@Test
	void theExampleEqualsTheCompiledOne() throws Exception {
		Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOCUMENT));
		assertThat(block.find()).isTrue();
		assertThat(stripped(Files.readString(EXAMPLE))).containsSubsequence(stripped(block.group(1)));
	}

	@Test
	void theExampleComputesPi() {
		PrintStream original = System.out;
		ByteArrayOutputStream out = new ByteArrayOutputStream();
		System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
		try {
			PiExample.main(new String[0]);
		}
		finally {
			System.setOut(original);
		}
		assertThat(out.toString(StandardCharsets.UTF_8)).contains("pi is 3.141592654 by 1 ranks");
	}

	@Test
	void everyMethodInTheTableExists() throws Exception {
		List<String> methods = Pattern.compile("`(?:world|mpi|Mpi|request|Request)\\.(\\w+)\\(")
			.matcher(Files.readString(DOCUMENT))
			.results()
			.map((result) -> result.group(1))
			.distinct()
			.toList();
		List<String> known = Stream.of(Communicator.class, Mpi.class, Request.class)
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.map(Method::getName)
			.toList();
		assertThat(methods).hasSizeGreaterThan(25);
		assertThat(known).containsAll(methods);
	}

	private static List<String> stripped(String text) {
		return text.lines().map(String::strip).filter((line) -> !line.isEmpty()).toList();
	}

}
