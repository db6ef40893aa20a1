package io.tutti.benchmark.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.TestJvm;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BufferKind;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Benchmarks of peers whose compilers and launchers are scripts of the test.
 */
@Timeout(60)
class PeerBenchmarkTest {

	private static final String LINE = "R\\tmpich-9\\ttcp\\tall-reduce\\t2\\t4\\t1.5\\t1\\t2\\t5\\t0";

	/** Commands of a compiler that leave a program. */
	private static final String COMPILE = "while [ \"$1\" != -o ]; do shift; done; /bin/cp /bin/true \"$2\"";

	/** Variants of MPICH over TCP. */
	private static final int VARIANTS = 2;

	@TempDir
	Path directory;

	private Path programs;

	private final List<String> notes = new ArrayList<>();

	@BeforeEach
	void createDirectories() throws IOException {
		this.programs = Files.createDirectory(this.directory.resolve("programs"));
	}

	@ParameterizedTest
	@EnumSource(Peer.class)
	void aPeerWithoutItsProgramsIsOmittedAndNamed(Peer peer) throws Exception {
		assertThat(run(peer)).isEmpty();
		assertThat(this.notes).singleElement()
			.asString()
			.matches(peer.label() + " skipped: (mpirun|g\\+\\+).* is not installed");
	}

	@Test
	void glooIsNotComparedWithSharedMemory() throws Exception {
		assertThat(run(Peer.GLOO, true)).isEmpty();
		assertThat(this.notes).containsExactly("gloo skipped: it supports TCP only; add --transport tcp");
	}

	@Test
	void aMissingCompilerIsNamed() throws Exception {
		script("mpirun.mpich", "exit 0");
		assertThat(run(Peer.MPICH)).isEmpty();
		assertThat(this.notes).containsExactly("mpich skipped: mpicc.mpich is not installed");
	}

	@Test
	void aCompilerFailureIsReportedWithItsFirstError() throws Exception {
		script("mpirun.mpich", "exit 0");
		script("mpicc.mpich", "echo 'In file included' >&2; echo 'x.c:1: fatal error: mpi.h: none' >&2; exit 1");
		assertThat(run(Peer.MPICH)).isEmpty();
		assertThat(this.notes).singleElement().asString().contains("mpi_bench.c", "fatal error: mpi.h: none");
	}

	@Test
	void whatACompilerLeavesDoesNotHideItsFailure() throws Exception {
		script("mpirun.mpich", "exit 0");
		script("mpicc.mpich",
				"while [ \"$1\" != -o ]; do shift; done; /bin/mkdir \"$2.d\"; echo 'an error' >&2; exit 1");
		assertThat(run(Peer.MPICH)).isEmpty();
		assertThat(this.notes).singleElement().asString().endsWith(" failed: exit code 1, an error");
		assertThat(this.directory.resolve("built")).isEmptyDirectory();
	}

	@Test
	void aFailureOfTheFileSystemIsNamedAndTheNextVariantRuns() throws Exception {
		Path built = Files.createFile(this.directory.resolve("built"));
		compiler("mpicc.mpich");
		script("mpirun.mpich", "exit 0");
		assertThat(run(Peer.MPICH)).isEmpty();
		String reason = " failed: file already exists " + built;
		assertThat(this.notes).containsExactly("mpich (tcp)" + reason, "mpich (tcp-keep)" + reason);
	}

	@Test
	void theLinesOfAPeerBecomeMeasurements() throws Exception {
		compiler("mpicc.mpich");
		script("mpirun.mpich", "printf '" + LINE + "\\n'");
		assertThat(run(Peer.MPICH)).hasSize(VARIANTS).extracting(Measurement::system).containsOnly("mpich-9");
		assertThat(this.notes).isEmpty();
	}

	@Test
	void aFailedPeerKeepsItsEarlierLinesAndIsReportedInOneLine() throws Exception {
		compiler("mpicc.mpich");
		script("mpirun.mpich", "printf '" + LINE + "\\n'; echo 'no slots' >&2; exit 3");
		assertThat(run(Peer.MPICH)).hasSize(VARIANTS);
		assertThat(this.notes).containsExactly("mpich (tcp) failed: exit code 3, no slots",
				"mpich (tcp-keep) failed: exit code 3, no slots");
	}

	@Test
	void wrongResultsOfAPeerAreLeftOutAndReportedInOneLine() throws Exception {
		compiler("mpicc.mpich");
		script("mpirun.mpich", "printf '" + LINE + "\\n" + LINE + "7\\n" + LINE + "8\\n'");
		assertThat(run(Peer.MPICH)).hasSize(VARIANTS).extracting(Measurement::wrong).containsOnly(0L);
		assertThat(this.notes).containsExactly("mpich (tcp): 2 of 3 lines left out, since their results were wrong",
				"mpich (tcp-keep): 2 of 3 lines left out, since their results were wrong");
	}

	@Test
	void buildResultsAreReusedForTheSameCompilerAndFlags() throws Exception {
		compiler("cc");
		PeerBuild build = new PeerBuild(this.directory.resolve("built"), new SearchPath(List.of(this.programs)),
				new BoundedProcess(SearchPath.ofThisProcess()));
		Path first = build.build(program("cc", "-O2"));
		FileTime built = Files.getLastModifiedTime(first);
		assertThat(build.build(program("cc", "-O2"))).isEqualTo(first);
		assertThat(Files.getLastModifiedTime(first)).isEqualTo(built);
		assertThat(build.build(program("cc", "-O3"))).isNotEqualTo(first);
		compiler("clang");
		assertThat(build.build(program("clang", "-O2"))).isNotEqualTo(first);
		Files.setLastModifiedTime(this.programs.resolve("cc"), FileTime.fromMillis(0));
		assertThat(build.build(program("cc", "-O2"))).isNotEqualTo(first);
	}

	@ParameterizedTest
	@ValueSource(strings = { "libgloo.so", "libgloo.a" })
	void aProgramIsBuiltAgainAfterItsLibraryWasReplaced(String name) throws Exception {
		Path library = Files.createFile(this.directory.resolve(name));
		script("g++", "case $1 in -print-file-name=" + name + ") echo " + library
				+ "; exit;; -print-file-name=*) echo \"${1#*=}\"; exit;; esac\n" + COMPILE);
		PeerBuild build = new PeerBuild(this.directory.resolve("built"), new SearchPath(List.of(this.programs)),
				new BoundedProcess(SearchPath.ofThisProcess()));
		PeerProgram program = PeerProgram.of(Peer.GLOO);
		Path first = build.build(program);
		assertThat(build.build(program)).isEqualTo(first);
		Files.setLastModifiedTime(library, FileTime.fromMillis(0));
		assertThat(build.build(program)).isNotEqualTo(first);
	}

	@Test
	void aProcessorIsKnownByItsModelAndFlagsAndNotByItsFrequency() {
		assertThat(PeerBuild.processor("""
				processor	: 0
				model		: 49
				model name	: AMD EPYC
				cpu MHz		: 2445.4
				flags		: fpu avx2

				processor	: 1
				model		: 49
				model name	: AMD EPYC
				cpu MHz		: 1796.1
				flags		: fpu avx2
				""".lines())).isEqualTo(List.of("model		: 49", "model name	: AMD EPYC", "flags		: fpu avx2"));
	}

	private static PeerProgram program(String compiler, String flag) {
		return new PeerProgram("program", "mpi_bench.c", compiler, List.of(flag), List.of());
	}

	@Test
	void aProgramThatDoesNotEndIsKilledWithItsDescendants() throws Exception {
		Path pid = this.directory.resolve("pid");
		BoundedProcess process = new BoundedProcess(SearchPath.ofThisProcess());
		ProcessOutcome outcome = process.run(List.of("/bin/sh", "-c", "sleep 300 & echo $! > " + pid + "; wait"),
				java.util.Map.of(), Duration.ofSeconds(1));
		assertThat(outcome.timedOut()).isTrue();
		assertThat(outcome.reason()).isEqualTo("timed out after 1 s");
		long started = Long.parseLong(Files.readString(pid).strip());
		Awaitility.await("the end of what the program started")
			.atMost(Duration.ofSeconds(10))
			.until(() -> ProcessHandle.of(started).filter(ProcessHandle::isAlive).isEmpty());
	}

	@Test
	void aProgramHasItsWholeTimeLimit() throws Exception {
		ProcessOutcome outcome = new BoundedProcess(SearchPath.ofThisProcess())
			.run(List.of("/bin/sh", "-c", "sleep 300"), java.util.Map.of(), Duration.ofMillis(1900));
		assertThat(outcome.timedOut()).isTrue();
	}

	@Test
	void theEndOfTheJvmEndsAProgramStartsNoOtherAndLeavesNoFile() throws Exception {
		Path temporary = Files.createDirectory(this.directory.resolve("temporary"));
		Path started = this.directory.resolve("started");
		Process jvm = new ProcessBuilder(
				TestJvm.command(List.of("-Djava.io.tmpdir=" + temporary), TwoPrograms.class, started))
			.redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("out").toFile())
			.start();
		try {
			Awaitility.await("the first program").atMost(Duration.ofSeconds(30)).until(() -> Files.exists(started));
			jvm.toHandle().destroy();
			assertThat(jvm.waitFor(30, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			jvm.destroyForcibly();
		}
		List<String> ids = Files.readAllLines(started);
		Awaitility.await("the end of what was started")
			.atMost(Duration.ofSeconds(10))
			.until(() -> ids.stream().map(Long::valueOf).allMatch((id) -> ProcessHandle.of(id).isEmpty()));
		assertThat(ids).hasSize(1);
		assertThat(temporary).isEmptyDirectory();
	}

	@Test
	void onlyFloat32SumsAreCompared() {
		BenchmarkOptions doubles = new BenchmarkOptions(List.of(Operation.ALL_REDUCE), 8, 8, 2, 5, 0, DataType.FLOAT64,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
		assertThatIllegalArgumentException().isThrownBy(() -> new PeerJob(doubles, 2, false, "system", true))
			.withMessageContaining("float64");
	}

	private List<Measurement> run(Peer peer) throws InterruptedException {
		return run(peer, false);
	}

	private List<Measurement> run(Peer peer, boolean sharedMemory) throws InterruptedException {
		BenchmarkOptions options = new BenchmarkOptions(List.of(Operation.ALL_REDUCE), 4, 4, 2, 5, 0, DataType.FLOAT32,
				ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
		return new PeerBenchmark(new PeerJob(options, 2, sharedMemory, "system", true), this.directory.resolve("built"),
				new SearchPath(List.of(this.programs)), this.notes::add)
			.run(peer);
	}

	/** A JVM that starts one program after another, also while it ends. */
	static final class TwoPrograms {

		public static void main(String[] args) throws IOException, InterruptedException {
			Thread starts = Thread.currentThread();
			Runtime.getRuntime().addShutdownHook(new Thread(() -> awaitEnd(starts)));
			BoundedProcess process = new BoundedProcess(SearchPath.ofThisProcess());
			for (int program = 0; program < 2; program++) {
				process.run(List.of("/bin/sh", "-c", "echo $$ >> " + args[0] + "; exec sleep 60"), java.util.Map.of(),
						Duration.ofSeconds(60));
			}
		}

		private static void awaitEnd(Thread thread) {
			try {
				thread.join(Duration.ofSeconds(5));
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	/** Writes a script that creates the file named after -o. */
	private void compiler(String name) throws IOException {
		script(name, COMPILE);
	}

	private void script(String name, String body) throws IOException {
		Path script = Files.writeString(this.programs.resolve(name), "#!/bin/sh\n" + body + "\n");
		Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
	}

}
