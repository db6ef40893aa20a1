package io.tutti.service.command;

import java.nio.file.Files;
import java.nio.file.Path;

import io.tutti.BadConfigurationException;
import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.job.TrainingOptions;
import io.tutti.training.table.ClassifierOptions;
import io.tutti.training.table.ClassifierTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
class TrainingFilesTest {

	@TempDir
	private Path directory;

	@Test
	void usableFilesAreAccepted() throws Exception {
		TrainingFiles.requireUsable(options(this.directory.resolve("run/1"), this.directory.resolve("report.json")));
		TrainingFiles.requireUsable(options(null, null));
		TrainingFiles.requireUsable(options(null, Path.of("/dev/stdout")));
	}

	@Test
	void aMissingTableIsNamedOnEveryRank() {
		assertRefused(this.directory.resolve("none.csv"), "none.csv", "no such file", "--data");
		assertRefused(this.directory, "is a directory", "--data");
	}

	@Test
	void aMissingTestTableIsNamedOnEveryRank() throws Exception {
		Path data = Files.createFile(this.directory.resolve("table.csv"));
		ClassifierOptions options = new ClassifierOptions(0.1, data, null, null, null,
				this.directory.resolve("none.csv"));
		assertThatIllegalArgumentException().isThrownBy(() -> new ClassifierTask(options))
			.withMessageContainingAll("none.csv", "no such file", "--test-data");
	}

	@Test
	void aReportThatCannotBeWrittenIsNamed() {
		TrainingOptions nowhere = options(null, this.directory.resolve("none/report.json"));
		assertRefused(nowhere, "report.json", "there is no directory", "--report");
		assertRefused(options(null, this.directory), "is a directory", "--report");
	}

	/**
	 * Neither permissions nor the existence of the folder show that /proc takes no files.
	 */
	@Test
	void aFileSystemThatTakesNoFilesIsNamedAndAUsableOneIsLeftEmpty() {
		assertRefused(options(null, Path.of("/proc/report.json")), "/proc/report.json", "--report");
		assertRefused(options(Path.of("/proc/run"), null), "/proc/run", "--checkpoint");
		TrainingFiles.requireUsable(options(this.directory.resolve("run"), this.directory.resolve("report.json")));
		assertThat(this.directory).isEmptyDirectory();
	}

	/** The file is replaced, so its folder takes the new one. */
	@Test
	void theFolderOfTheFileToWhichAReportLinksIsChecked() throws Exception {
		Path file = Files.createFile(Files.createDirectory(this.directory.resolve("folder")).resolve("file"));
		TrainingFiles
			.requireUsable(options(null, Files.createSymbolicLink(this.directory.resolve("usable.json"), file)));
		Path link = Files.createSymbolicLink(this.directory.resolve("link.json"), Path.of("/proc/self/status"));
		assertRefused(options(null, link), "link.json", "/proc/", "--report");
		Files.delete(link);
	}

	@Test
	void aReportThatLinksToAMissingFolderIsRefused() throws Exception {
		Path file = this.directory.resolve("none/file");
		Path link = Files.createSymbolicLink(this.directory.resolve("link.json"), file);
		assertRefused(options(null, link), "link.json", "there is no directory " + file.getParent(), "--report");
	}

	@Test
	void aCheckpointFolderBelowAFileIsNamed() throws Exception {
		Path file = Files.createFile(this.directory.resolve("file"));
		assertRefused(options(file.resolve("run"), null), "checkpoint directory", "is not a directory", "--checkpoint");
	}

	private static void assertRefused(Path data, String... words) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ClassifierTask(new ClassifierOptions(0.05, data)))
			.satisfies((ex) -> org.assertj.core.api.Assertions.assertThat(ex.getMessage()).contains(words));
	}

	private static void assertRefused(TrainingOptions options, String... words) {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> TrainingFiles.requireUsable(options))
			.satisfies((ex) -> org.assertj.core.api.Assertions.assertThat(ex.getMessage()).contains(words));
	}

	private static TrainingOptions options(@Nullable Path checkpoint, @Nullable Path report) {
		return new TrainingOptions(1, 32, 1, 1, (checkpoint != null) ? CheckpointOptions.of(checkpoint) : null, report);
	}

}
