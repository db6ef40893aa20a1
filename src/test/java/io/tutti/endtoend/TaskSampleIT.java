package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page about a user's own network: its programs are files that compile, and its
 * commands train the task of a jar in processes of their own.
 */
@Timeout(240)
class TaskSampleIT {

	private static final Path PAGE = Path.of("src/docs/tasks.md");

	private static final Pattern LISTING = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private static final Pattern COMMAND = Pattern.compile("^ {4}\\./tutti (.*com\\.acme\\.Fit.*|.*wideFit.*)$",
			Pattern.MULTILINE);

	private static final Duration LIMIT = Duration.ofSeconds(120);

	@TempDir
	private static Path folder;

	private static Path classes;

	@BeforeAll
	static void compile() throws IOException {
		TaskJar.write(folder);
		classes = folder.resolve("classes");
	}

	@Test
	void thePageShowsEveryProgramAsItIs() throws IOException {
		List<String> shown = new ArrayList<>();
		Matcher listing = LISTING.matcher(Files.readString(PAGE));
		while (listing.find()) {
			shown.add(listing.group(1));
		}
		List<String> programs = new ArrayList<>();
		for (Path program : TaskJar.programs()) {
			programs.add(Files.readString(program));
		}
		assertThat(shown).containsExactlyInAnyOrderElementsOf(programs);
	}

	@Test
	void theProgramInOneProcessLearns() throws Exception {
		List<String> command = TuttiProcess.java();
		command.addAll(List.of("-cp", classes + File.pathSeparator + TaskJar.classPath(), "OneProcess"));
		assertThat(ended(TuttiProcess.run(folder, Map.of(), command)).output())
			.contains("the error is below 0.01: true");
	}

	@Test
	void theCommandsOfThePageTrainTheTaskOfTheJar() throws Exception {
		List<String> outputs = new ArrayList<>();
		Matcher command = COMMAND.matcher(Files.readString(PAGE));
		while (command.find()) {
			Ended ended = tutti(command.group(1).split(" "));
			assertThat(ended.code()).as(ended.output()).isZero();
			outputs.add(ended.output());
		}
		assertThat(outputs).hasSize(3);
		assertThat(outputs.get(0)).contains("Options of the task com.acme.Fit:")
			.contains("Hidden units (default: 32).");
		assertThat(outputs.get(1))
			.contains("training on Fit: 1,000 samples and 200 for the test, 49 parameters, 5 epochs")
			.containsPattern("test loss +0\\.\\d{4}")
			.contains("the same on every rank");
		assertThat(outputs.get(2)).contains("193 parameters, 30 epochs").containsPattern("test loss +0\\.0\\d{3}");
	}

	@Test
	void theLimitOfAnOptionEndsAllRanksWithOneLineEach() throws Exception {
		Ended ended = tutti("launch", "-n", "2", "train", "--task", "com.acme.Fit", "--class-path", "fit.jar", "--",
				"--hidden", "0");
		assertThat(ended.code()).as(ended.output()).isEqualTo(64);
		assertThat(ended.output()).contains("[0] tutti: --hidden must be greater than or equal to 1, got 0")
			.contains("[1] tutti: --hidden")
			.doesNotContain("joined the group");
	}

	@Test
	void anUnknownNameIsNeitherAClassNorABean() throws Exception {
		Ended ended = tutti("train", "--task", "com.acme.Fitt", "--class-path", "fit.jar");
		assertThat(ended.code()).as(ended.output()).isEqualTo(64);
		assertThat(ended.output()).contains("--task com.acme.Fitt is neither a class nor a bean of type TrainingTask;"
				+ " the beans are wideFit. Give the full name");
	}

	private static Ended tutti(String... words) throws Exception {
		return ended(TuttiProcess.start(folder, TuttiProcess.SCALAR, words));
	}

	private static Ended ended(TuttiProcess started) throws Exception {
		try (started) {
			int code = started.exitCode(LIMIT);
			return new Ended(code, started.output());
		}
	}

	/**
	 * An ended process.
	 */
	private record Ended(int code, String output) {
	}

}
