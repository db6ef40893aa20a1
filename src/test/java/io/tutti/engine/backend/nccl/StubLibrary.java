package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Assumptions;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compiles shared libraries that stand in for CUDA and NCCL.
 */
final class StubLibrary {

	private StubLibrary() {
	}

	/** A driver that returns the given codes and count. */
	static Path driver(Path directory, String name, int init, int countCode, int count) {
		return compile(directory, name, """
				int cuInit(unsigned flags) { return flags == 0 ? %d : 1; }
				int cuDeviceGetCount(int *count) { *count = %d; return %d; }
				""".formatted(init, count, countCode));
	}

	/** An NCCL with a version and some functions, which must never be called. */
	static Path nccl(Path directory, String name, int version, NcclFunction... functions) {
		StringBuilder source = new StringBuilder(
				"int ncclGetVersion(int *version) { *version = " + version + "; return 0; }\n");
		for (NcclFunction function : functions) {
			source.append("int ").append(function.symbol()).append("(void) { __builtin_trap(); }\n");
		}
		return compile(directory, name, source.toString());
	}

	/** Compiles a library; skips the test with a message if there is no compiler. */
	static Path compile(Path directory, String name, String source) {
		Path code = directory.resolve(name + ".c");
		Path library = directory.resolve(name + ".so");
		try {
			Files.writeString(code, source);
			Process compiler = new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), code.toString())
				.redirectErrorStream(true)
				.redirectOutput(directory.resolve(name + ".log").toFile())
				.start();
			assertThat(compiler.waitFor(30, TimeUnit.SECONDS)).isTrue();
			assertThat(compiler.exitValue()).as(Files.readString(directory.resolve(name + ".log"))).isZero();
		}
		catch (IOException ex) {
			Assumptions.abort("gcc is not installed, so no stub of " + name + " can be built: " + ex.getMessage());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
		return library;
	}

}
