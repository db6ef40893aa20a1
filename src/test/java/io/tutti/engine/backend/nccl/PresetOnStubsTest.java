package io.tutti.engine.backend.nccl;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.TestJvm;
import io.tutti.training.SharesLibtorch;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the real bindings, down to the C calls, on stub libraries for CUDA and NCCL that
 * the test compiles, in a process that uses more memory than JavaCPP's limit.
 */
@Timeout(120)
@SharesLibtorch
class PresetOnStubsTest {

	private static final Path SOURCES = Path.of("src/test/gpu/stub");

	@TempDir
	Path directory;

	@BeforeEach
	void compile() throws Exception {
		compile("cuda", "libcuda.so.1");
		compile("cudart", "libcudart.so.13", "-Wl,--version-script=" + SOURCES.resolve("cudart.map"));
		compile("nccl", "libnccl.so.2");
	}

	@Test
	void everyCallReachesTheLibraryWithItsArguments() throws Exception {
		assertThat(run(java(System.getProperty("java.class.path"), StubbedGpu.class), 0))
			.contains(
					"init: rank 0 of 1, id 7..7, size right, magic cafebeef, version 22903, blocking 0, the rest unset")
			.contains("240 identities hold");
	}

	@Test
	void missingNativeBindingsAreReportedBeforeAnyCall() throws Exception {
		String withoutNativePart = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> !Path.of(entry).getFileName().toString().matches("cuda-.*-linux-.*\\.jar"))
			.collect(Collectors.joining(File.pathSeparator));
		assertThat(run(java(withoutNativePart, Gpu.class), 64))
			.contains("backend nccl is not available: the preset does not load though available: NCCL 2.29.3, 1 device")
			.contains("no jnicudart in java.library.path")
			.contains("Add org.bytedeco:cuda with its classifier for this platform");
	}

	private ProcessBuilder java(String classPath, Class<?> main) {
		ProcessBuilder builder = new ProcessBuilder(TestJvm.command("-Dorg.bytedeco.javacpp.maxPhysicalBytes=1m",
				"-Dorg.bytedeco.javacpp.cachedir=" + this.directory.resolve("cache"), "-cp", classPath,
				main.getName()));
		builder.environment().put("LD_LIBRARY_PATH", this.directory.toString());
		return builder;
	}

	private void compile(String name, String library, String... options) throws Exception {
		List<String> command = new ArrayList<>(List.of("gcc", "-shared", "-fPIC", "-Wl,-soname," + library, "-o",
				this.directory.resolve(library).toString(), SOURCES.resolve(name + ".c").toString()));
		command.addAll(List.of(options));
		run(new ProcessBuilder(command), 0);
	}

	private String run(ProcessBuilder builder, int exitCode) throws InterruptedException, IOException {
		Path output = Files.createTempFile(this.directory, "output", ".txt");
		Process process = null;
		try {
			process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
		}
		catch (IOException ex) {
			Assumptions.abort(builder.command().getFirst() + " cannot be started, so there are no stubs: " + ex);
		}
		try {
			assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		String text = Files.readString(output);
		assertThat(process.exitValue()).as(text).isEqualTo(exitCode);
		return text;
	}

}
