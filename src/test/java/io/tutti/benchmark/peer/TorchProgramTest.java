package io.tutti.benchmark.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Python is a script of the test.
 */
@Timeout(60)
class TorchProgramTest {

	@TempDir
	Path directory;

	private final List<String> notes = new ArrayList<>();

	@Test
	void withoutPythonTheRunIsOmittedAndNamed() throws Exception {
		assertThat(run()).isEmpty();
		assertThat(this.notes).containsExactly("c10d-gloo skipped: python3 is not installed");
	}

	@Test
	void aPythonWithoutTorchIsNotUsed() throws Exception {
		python("exit 1");
		assertThat(run()).isEmpty();
		assertThat(this.notes).containsExactly("c10d-gloo skipped: no python3 on the PATH has PyTorch with Gloo");
	}

	@Test
	void theProgramGetsItsArgumentsAndVariables() throws Exception {
		python("[ \"$1\" = -c ] && exit 0; head -c 3 \"$1\"; shift; echo; echo \"$@ $KIND\"");
		assertThat(run()).containsExactly("\"\"\"", "2 32 small");
		assertThat(this.notes).isEmpty();
	}

	@Test
	void aFailureKeepsTheEarlierLinesAndIsReportedInOneLine() throws Exception {
		python("[ \"$1\" = -c ] && exit 0; echo first; echo 'RuntimeError: no' >&2; exit 3");
		assertThat(run()).containsExactly("first");
		assertThat(this.notes).containsExactly("c10d-gloo failed: exit code 3, RuntimeError: no");
	}

	@Test
	void aProgramThatDoesNotEndIsKilled() throws Exception {
		python("[ \"$1\" = -c ] && exit 0; exec sleep 100");
		assertThat(program("system").run(List.of(), Map.of(), Duration.ofSeconds(1))).isEmpty();
		assertThat(this.notes).containsExactly("c10d-gloo failed: timed out after 1 s");
	}

	@Test
	void theProgramKeepsFreedMemoryAndPreloadsTheCongestionControlAfterAnotherLibrary() throws Exception {
		script("gcc", "while [ \"$1\" != -o ]; do shift; done; /bin/cp /bin/true \"$2\"");
		python("echo \"$LD_PRELOAD $BENCH_CC $MALLOC_MMAP_MAX_ $MALLOC_TRIM_THRESHOLD_\"");
		assertThat(program("reno").run(List.of(), Map.of("LD_PRELOAD", "/none.so"), Duration.ofSeconds(20)))
			.singleElement()
			.asString()
			.matches("/none\\.so:" + this.directory + "/built/[0-9a-f]+-cc_shim\\.so reno 0 4294967296");
	}

	@Test
	void withoutACompilerForTheCongestionControlTheRunIsOmittedAndNamed() throws Exception {
		python("exit 0");
		assertThat(program("cubic").run(List.of(), Map.of(), Duration.ofSeconds(20))).isEmpty();
		assertThat(this.notes).containsExactly("c10d-gloo skipped: gcc is not installed");
	}

	private List<String> run() throws InterruptedException {
		return program("system").run(List.of("2", "32"), Map.of("KIND", "small"), Duration.ofSeconds(20));
	}

	private TorchProgram program(String congestionControl) {
		return new TorchProgram("torch_training.py", congestionControl, this.directory.resolve("built"),
				new SearchPath(List.of(this.directory)), this.notes::add);
	}

	private void python(String text) throws IOException {
		script("python3", text);
	}

	private void script(String name, String text) throws IOException {
		Path file = Files.writeString(this.directory.resolve(name), "#!/bin/sh\n" + text + "\n");
		Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
	}

}
