package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import io.tutti.ExitCode;
import io.tutti.FreePort;
import io.tutti.TestJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The user's guide: its programs are files that compile, run as two processes and print
 * what the guide says that rank 0 prints. The tests that the conformance table names
 * exist.
 */
@Timeout(180)
class GuideTest {

	private static final Path GUIDE = Path.of("src/docs/guide.md");

	private static final Path CONFORMANCE = Path.of("src/docs/conformance.md");

	private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

	private static final Path PROGRAMS = Path.of("src/test/samples/guide");

	private static final Pattern LISTING = Pattern
		.compile("`(\\w+)\\.java`:\n\n```java\n(.*?)```\n(?:\nRank 0 prints:\n\n```text\n(.*?)```\n)?", Pattern.DOTALL);

	/** Both processes end with an exception. */
	private static final String FAILING = "ExitCodes";

	/** Only compiled: loading libtorch takes longer than all other programs together. */
	private static final String TRAINING = "Training";

	@TempDir
	private Path folder;

	@Test
	void theGuideShowsEveryProgramAsItIs() throws IOException {
		Map<String, String> shown = new TreeMap<>();
		listings().forEach((name, listing) -> shown.put(name, listing.code()));
		Map<String, String> programs = new TreeMap<>();
		for (Path source : sources()) {
			programs.put(source.getFileName().toString().replace(".java", ""), Files.readString(source));
		}
		assertThat(shown).isEqualTo(programs);
	}

	@Test
	void everyProgramPrintsWhatTheGuideSays() throws Exception {
		compile();
		int port = FreePort.next();
		String endpoints = "127.0.0.1:" + FreePort.next() + ",127.0.0.1:" + FreePort.next();
		try (GuideRank.Running first = start(0, port, endpoints);
				GuideRank.Running second = start(1, port, endpoints)) {
			for (Map.Entry<String, Listing> program : listings().entrySet()) {
				String name = program.getKey();
				if (name.equals(TRAINING) || name.equals(FAILING)) {
					continue;
				}
				first.start(name);
				second.start(name);
				String printed = first.finish(name);
				second.finish(name);
				assertThat(printed).as(name + "\n" + errors()).isEqualTo(program.getValue().printed());
				assertThat(first.process().isAlive() && second.process().isAlive()).as(name + "\n" + errors()).isTrue();
			}
			requireExitCode(first, second);
		}
	}

	@Test
	void everyTestOfTheConformanceTableExists() throws IOException {
		Map<String, Path> classes = new HashMap<>();
		try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
			files.forEach((file) -> classes.put(file.getFileName().toString().replace(".java", ""), file));
		}
		Matcher test = TEST.matcher(Files.readString(CONFORMANCE));
		int found = 0;
		for (; test.find(); found++) {
			assertThat(classes).containsKey(test.group(1));
			assertThat(Files.readString(classes.get(test.group(1)))).contains("void " + test.group(2) + "(");
		}
		assertThat(found).isGreaterThan(40);
	}

	private void requireExitCode(GuideRank.Running first, GuideRank.Running second) throws Exception {
		first.start(FAILING);
		second.start(FAILING);
		for (GuideRank.Running rank : List.of(first, second)) {
			assertThat(rank.process().waitFor(60, TimeUnit.SECONDS)).as(errors()).isTrue();
			assertThat(rank.process().exitValue()).as(errors()).isEqualTo(ExitCode.ABORTED);
		}
		assertThat(errors()).contains("the input file is empty");
	}

	private void compile() throws IOException {
		List<String> arguments = Stream
			.concat(Stream.of("-classpath", classPath(), "-d", this.folder.toString(), "-Werror", "-proc:none"),
					sources().stream().map(Path::toString))
			.toList();
		int code = ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new));
		assertThat(code).isZero();
	}

	private GuideRank.Running start(int rank, int port, String endpoints) throws IOException {
		List<String> command = TestJvm.command("-cp", this.folder + File.pathSeparator + classPath(),
				GuideRank.class.getName(), endpoints);
		ProcessBuilder builder = new ProcessBuilder(command);
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment()
			.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "" + port,
					"TUTTI_TIMEOUT_RENDEZVOUS", "60s"));
		builder.directory(this.folder.toFile()).redirectError(errors(rank).toFile());
		Process process = builder.start();
		return new GuideRank.Running(process, process.inputReader());
	}

	/** With absolute entries, since the ranks run in another folder. */
	private static String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().toString())
			.collect(Collectors.joining(File.pathSeparator));
	}

	private Path errors(int rank) {
		return this.folder.resolve("errors-" + rank + ".txt");
	}

	private String errors() throws IOException {
		return Files.readString(errors(0)) + Files.readString(errors(1));
	}

	private static List<Path> sources() throws IOException {
		try (Stream<Path> files = Files.list(PROGRAMS)) {
			return files.sorted(Comparator.naturalOrder()).toList();
		}
	}

	/** The guide's programs in its order, by name. */
	private static Map<String, Listing> listings() throws IOException {
		Map<String, Listing> listings = new LinkedHashMap<>();
		Matcher matcher = LISTING.matcher(Files.readString(GUIDE));
		while (matcher.find()) {
			listings.put(matcher.group(1),
					new Listing(matcher.group(2), (matcher.group(3) != null) ? matcher.group(3) : ""));
		}
		return listings;
	}

	/**
	 * A program in the guide.
	 *
	 * @param code its source
	 * @param printed what rank 0 prints
	 */
	private record Listing(String code, String printed) {
	}

}
