package io.tutti.service.command;

import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.service.config.ConfigurationException;
import io.tutti.training.TableSource;
import io.tutti.training.TrainingOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class TrainingFilesTest {

	@TempDir
	private Path directory;

	@Test
	void usableFilesAreAccepted() throws Exception {
		Path data = Files.createFile(this.directory.resolve("table.csv"));
		TrainingFiles
			.requireUsable(options(data, this.directory.resolve("run/1"), this.directory.resolve("report.json")), 0);
		TrainingFiles.requireUsable(options(null, null, null), 0);
		TrainingFiles.requireUsable(options(null, null, Path.of("/dev/stdout")), 0);
	}

	@Test
	void aMissingTableIsNamedOnEveryRank() {
		assertRefused(options(this.directory.resolve("none.csv"), null, null), 1, "none.csv", "no such file", "--data");
		assertRefused(options(this.directory, null, null), 1, "is a directory", "--data");
	}

	@Test
	void aMissingTestTableIsNamedOnEveryRank() throws Exception {
		Path data = Files.createFile(this.directory.resolve("table.csv"));
		TableSource source = new TableSource(data, this.directory.resolve("none.csv"), ',', null, null);
		assertRefused(new TrainingOptions(1, 32, 0.1, 1, 1, source, null, 0, null), 1, "none.csv", "no such file",
				"--test-data");
	}

	@Test
	void aReportThatCannotBeWrittenIsNamedOnTheRankThatWritesIt() {
		TrainingOptions nowhere = options(null, null, this.directory.resolve("none/report.json"));
		assertRefused(nowhere, 0, "report.json", "there is no directory", "--report");
		TrainingFiles.requireUsable(nowhere, 1);
		assertRefused(options(null, null, this.directory), 0, "is a directory", "--report");
	}

	@Test
	void aCheckpointFolderBelowAFileIsNamed() throws Exception {
		Path file = Files.createFile(this.directory.resolve("file"));
		assertRefused(options(null, file.resolve("run"), null), 0, "checkpoint directory", "is not a directory",
				"--checkpoint");
	}

	private static void assertRefused(TrainingOptions options, int rank, String... words) {
		assertThatExceptionOfType(ConfigurationException.class)
			.isThrownBy(() -> TrainingFiles.requireUsable(options, rank))
			.satisfies((ex) -> org.assertj.core.api.Assertions.assertThat(ex.getMessage()).contains(words));
	}

	private static TrainingOptions options(@Nullable Path data, @Nullable Path checkpoint, @Nullable Path report) {
		return new TrainingOptions(1, 32, 0.1, 1, 1, (data != null) ? TableSource.of(data) : null, checkpoint, 0,
				report);
	}

}
