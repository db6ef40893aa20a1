package io.tutti.service.command;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TaskOption;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The selection of a task, its options and their errors, before a rank starts.
 */
@Timeout(60)
@SharesLibtorch
@Isolated
class TrainTaskTest {

	private static final String OWN = TrainTaskTest.class.getName() + "$";

	@TempDir
	private Path directory;

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			NotATask       | is not a task: it must implement io.tutti.training.TrainingTask
			Half           | is abstract; give a class that can be instantiated
			TwoNumbers     | has no usable constructor: it needs a public one without parameters, or with one record
			Inner          | make the class static
			Clash          | would be the option --seed, which the command train has itself; rename the component
			""")
	void aClassThatIsNotAUsableTaskIsRefusedInOneLine(String type, String message) {
		assertRefused(message, "train", "--task", OWN + type);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					--width 0 --name a      | --width must be greater than or equal to 1, got 0
					--width 9 --name a      | --width must be less than or equal to 8, got 9
					--width 0 --name A      | --name must match "[a-z]+", got A; --width must be greater than or equal to 1, got 0
					--width x --name a      | Invalid value for option '--width': 'x' is not a whole number
					--width 9876543210      | Invalid value for option '--width': '9876543210' is out of range
					--width 2               | Missing required option: --name
					--name odd              | the name must not be odd
					--name a --wdth 2       | Unknown options: '--wdth', '2'
					-- --name a --width 100 | --width must be less than or equal to 8, got 100
					""")
	void anOptionOfATaskOutsideItsLimitsIsRefusedInOneLine(String options, String message) {
		assertRefused(message, ("train --task " + OWN + "Sized " + options).split(" "));
	}

	@Test
	void optionsReachTheTaskWithTheirTypesAndDefaults() {
		assertThat(sized("--name", "a")).isEqualTo(new Size(4, "a", null, true, List.of(1, 2), Duration.ofSeconds(5)));
		assertThat(sized("--name", "b", "--width=8", "--weights", "w.bin", "--no-bias", "--layer-sizes", "3,4,5",
				"--wait-time", "PT1M"))
			.isEqualTo(new Size(8, "b", Path.of("w.bin"), false, List.of(3, 4, 5), Duration.ofMinutes(1)));
	}

	private static Object sized(String... options) {
		String[] words = new String[options.length + 3];
		System.arraycopy(new String[] { "train", "--task", OWN + "Sized" }, 0, words, 0, 3);
		System.arraycopy(options, 0, words, 3, options.length);
		CommandLine tutti = TuttiCommand.commandLine(Object.class, List.of("train"), words);
		tutti.parseArgs(words);
		CommandLine train = tutti.getSubcommands().get("train");
		return new TaskOptions(Size.class).read(train.getCommandSpec());
	}

	@Test
	void theHelpShowsTheOptionsOfTheTaskWithTheirDefaults() {
		StringWriter help = new StringWriter();
		TuttiCommand.commandLine(Object.class, List.of("train"), "train", "--task", OWN + "Sized")
			.getSubcommands()
			.get("train")
			.usage(new PrintWriter(help));
		assertThat(help.toString()).contains("Options of the task " + OWN + "Sized:")
			.contains("--width=N")
			.contains("Width of a layer, 100 % of it (default: 4).")
			.contains("(required)")
			.contains("--[no-]bias")
			.doesNotContain("--learning-rate");
	}

	@Test
	void withoutATaskTheOptionsAreThoseOfTheClassifier() {
		StringWriter help = new StringWriter();
		TuttiCommand.commandLine(Object.class).getSubcommands().get("train").usage(new PrintWriter(help));
		assertThat(help.toString()).contains("--learning-rate=X", "--data=FILE", "(default: 0.05)");
	}

	@Test
	void aClassPathThatDoesNotExistOrIsNoJarIsNamed() throws Exception {
		Path file = Files.writeString(this.directory.resolve("task.jar"), "not a jar");
		assertRefused("--class-path: " + this.directory.resolve("none.jar") + " does not exist", "train",
				"--class-path", this.directory.resolve("none.jar").toString());
		assertRefused("--class-path: " + file + " is not a readable jar", "train", "--class-path", file.toString());
		assertRefused("holds no jar", "train", "--class-path",
				Files.createDirectory(this.directory.resolve("empty")) + "/*");
	}

	@Test
	void aClassOfAFolderIsFoundAndAnUnusableOneIsRefused() throws Exception {
		Files.write(this.directory.resolve("Broken.class"), new byte[] { 1, 2, 3 });
		assertRefused("--task Broken cannot be loaded: java.lang.ClassFormatError", "train", "--task", "Broken",
				"--class-path", this.directory.toString());
	}

	@Test
	void aConstructorThatFailsIsNamed() {
		TaskType type = TaskType.find(OWN + "Failing", TrainTaskTest.class.getClassLoader());
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> type.create(null))
			.withMessageContainingAll("Failing cannot be created", "IllegalStateException: no licence");
	}

	@Test
	void aMalformedTableIsFoundBeforeTheRankStarts() throws Exception {
		Path empty = Files.createFile(this.directory.resolve("empty.csv"));
		assertThat(told(65, "train", "--data", empty.toString()))
			.containsExactly("tutti: " + empty + " line 1, column 1: the table is empty");
		assertRefused("none.csv cannot be read: there is no such file. Check --data", "train", "--data",
				this.directory.resolve("none.csv").toString());
	}

	@Test
	void anUnknownNameMayBeABean() {
		assertThat(TaskType.find("fitTask", TrainTaskTest.class.getClassLoader())).isNull();
	}

	/** One line of error, and one that names the help. */
	private static void assertRefused(String message, String... words) {
		List<String> lines = told(64, words);
		assertThat(lines).hasSize(2);
		assertThat(lines.getFirst()).startsWith("tutti: ").contains(message);
	}

	private static List<String> told(int exitCode, String... words) {
		PrintStream console = System.err;
		ByteArrayOutputStream said = new ByteArrayOutputStream();
		System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
		try {
			assertThat(TuttiCommand.execute(Object.class, words)).isEqualTo(exitCode);
		}
		catch (ParameterException ex) {
			throw new AssertionError(ex);
		}
		finally {
			System.setErr(console);
		}
		return said.toString(StandardCharsets.UTF_8).lines().toList();
	}

	/** Options of each type. */
	public record Size(
			@TaskOption(value = "Width of a layer, 100 % of it", defaultValue = "4") @Min(1) @Max(8) int width,
			@Pattern(regexp = "[a-z]+") String name,
			@TaskOption(value = "Initial weights", optional = true) @Nullable Path weights,
			@TaskOption(value = "Whether layers have a bias", defaultValue = "true") boolean bias,
			@TaskOption(value = "Sizes of the layers", defaultValue = "1,2") List<Integer> layerSizes,
			@TaskOption(value = "How long to wait", defaultValue = "PT5S") Duration waitTime) {

		public Size {
			if ("odd".equals(name)) {
				throw new IllegalArgumentException("the name must not be odd");
			}
		}

	}

	/** A record with a component that train has as an option. */
	public record Seed(int seed) {
	}

	public static class NotATask {

	}

	/** A task without content. */
	public abstract static class Half implements TrainingTask {

		@Override
		public SampleCounts load(long seed, TrainingDevice device) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Module model() {
			throw new UnsupportedOperationException();
		}

		@Override
		public Optimizer optimizer(TensorVector parameters) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Tensor losses(Batch batch) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Tensor scores(Batch batch) {
			throw new UnsupportedOperationException();
		}

	}

	public static final class TwoNumbers extends Half {

		public TwoNumbers(int one, int two) {
		}

	}

	public final class Inner extends Half {

	}

	public static final class Clash extends Half {

		public Clash(Seed seed) {
		}

	}

	public static final class Sized extends Half {

		public Sized(Size size) {
		}

	}

	public static final class Failing extends Half {

		public Failing() {
			throw new IllegalStateException("no licence");
		}

	}

}
