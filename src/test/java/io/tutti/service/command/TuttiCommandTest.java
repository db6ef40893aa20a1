package io.tutti.service.command;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

import io.tutti.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class TuttiCommandTest {

	private final StringWriter out = new StringWriter();

	private final StringWriter err = new StringWriter();

	private final CommandLine tutti = TuttiCommand.commandLine(Object.class)
		.setOut(new PrintWriter(this.out, true))
		.setErr(new PrintWriter(this.err, true));

	@ParameterizedTest
	@ValueSource(strings = { "serve", "train", "launch", "env" })
	void helpNamesEachCommandAndEachCommandHasHelp(String command) {
		assertThat(this.tutti.execute("--help")).isZero();
		assertThat(this.out.toString()).containsPattern("(?m)^  " + command + " +\\w").contains("Examples:");
		assertThat(this.tutti.execute(command, "--help")).isZero();
		assertThat(this.out.toString()).contains("Usage: tutti " + command);
	}

	@Test
	void versionIsPrinted() {
		assertThat(this.tutti.execute("--version")).isZero();
		assertThat(this.out.toString()).contains("Tutti", "Java " + Runtime.version().feature());
	}

	@ParameterizedTest
	@ValueSource(strings = { "serve", "train", "bench", "launch", "export", "env" })
	void everyCommandSaysItsVersion(String command) {
		assertThat(this.tutti.execute(command, "--version")).isZero();
		assertThat(this.out.toString()).contains("Tutti", "Java " + Runtime.version().feature());
	}

	@Test
	void withoutACommandARankServes() {
		assertThat(TuttiCommand.withDefault()).containsExactly("serve");
		assertThat(TuttiCommand.withDefault("--http-port", "9000")).containsExactly("serve", "--http-port", "9000");
		assertThat(TuttiCommand.withDefault("--tutti.rank=1")).containsExactly("serve", "--tutti.rank=1");
		assertThat(TuttiCommand.withDefault("train", "--epochs", "1")).containsExactly("train", "--epochs", "1");
		assertThat(TuttiCommand.withDefault("--help")).containsExactly("--help");
		assertThat(TuttiCommand.withDefault("-V")).containsExactly("-V");
	}

	@ParameterizedTest
	@ValueSource(strings = { "dance", "serve --nix", "train --epoch=3", "train extra", "train --epochs=many",
			"train --epochs=0", "train --checkpoint=", "train --data=", "train --learning-rate=-1",
			"train --checkpoint-every=5", "train --rank-weights=fast", "serve --http-port", "serve --http.=1" })
	void anInvalidCommandLineEndsWith64AndAShortMessage(String line) {
		assertThat(this.tutti.execute(line.split(" "))).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString().lines()).hasSizeBetween(2, 4).first().asString().startsWith("tutti: ");
	}

	@Test
	void anUnknownCommandIsAnsweredWithTheCommands() {
		assertThat(this.tutti.execute("foo")).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString()).contains("The commands are serve, train, bench, launch, export, env.");
	}

	@Test
	void theHiddenCommandHasHelpAndTheCodeOfInvalidArguments() {
		assertThat(this.tutti.execute("rehearse", "--help")).isZero();
		assertThat(this.tutti.execute("rehearse", "--nix")).isEqualTo(ExitCode.BAD_CONFIGURATION);
	}

	@ParameterizedTest
	@ValueSource(strings = { "train -n 2", "bench --nnodes=2", "serve --min-ranks 2" })
	void anOptionOfLaunchAfterItsCommandIsExplained(String line) {
		assertThat(this.tutti.execute(line.split(" "))).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString().lines()).contains(line.split("[ =]")[1]
				+ " is an option of launch, which comes before the command, as in `tutti launch -n 2 "
				+ line.split(" ")[0] + "`.");
	}

	@ParameterizedTest
	@ValueSource(strings = { "train --checkpoint=", "train --report=", "train --data=", "train --test-data=" })
	void anEmptyPathIsRefused(String line) {
		String[] words = line.split(" ");
		CommandLine given = TuttiCommand.commandLine(Object.class, List.of(words[0]), words);
		assertThatExceptionOfType(CommandLine.ParameterException.class).isThrownBy(() -> given.parseArgs(words))
			.withMessageContaining("a path must not be empty");
	}

	@Test
	void aCheckpointIntervalNeedsADirectory() {
		assertThat(this.tutti.execute("train", "--checkpoint-every=5")).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString()).contains("a checkpoint every 5 steps needs a checkpoint directory",
				"add --checkpoint");
	}

	@ParameterizedTest
	@ValueSource(strings = { "3", "0" })
	void aNumberOfCheckpointsNeedsADirectory(String number) {
		assertThat(this.tutti.execute("train", "--keep-checkpoints=" + number)).isEqualTo(ExitCode.BAD_CONFIGURATION);
		assertThat(this.err.toString()).contains("--keep-checkpoints needs a checkpoint directory", "add --checkpoint");
	}

	@Test
	void propertiesPassOnToSpringAndOptionsBecomeProperties() {
		CommandLine serve = this.tutti.getSubcommands().get("serve");
		RankOptions options = new RankOptions();
		new CommandLine(options).parseArgs("--http-port=9000");
		assertThat(options.properties(serve, List.of("--tutti.rank=1", "--logging.level.io.tutti=debug")))
			.containsExactly("--tutti.rank=1", "--logging.level.io.tutti=debug", "--tutti.http.port=9000");
		assertThatExceptionOfType(CommandLine.UnmatchedArgumentException.class)
			.isThrownBy(() -> options.properties(serve, List.of("--tutti.rank=1", "--ranks=3")))
			.withMessageContaining("--ranks=3")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("tutti.rank"));
	}

	@Test
	void optionsAfterTheCommandOfLaunchBelongToTheCommand() {
		CommandLine.ParseResult launch = this.tutti.parseArgs("launch", "-n", "2", "bench", "--max-bytes", "1KB")
			.subcommand();
		assertThat(launch.matchedPositional(0).<List<String>>getValue()).containsExactly("bench", "--max-bytes", "1KB");
	}

}
