package io.tutti.training.job;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;

import io.tutti.TestJvm;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Memory of long trainings. Each has a virtual machine of its own, without the second
 * compiler, which would take and free up to thirty megabytes of native memory at any
 * time.
 */
@Timeout(120)
class TrainingMemoryTest {

	/** A tensor without data takes about 300 bytes of native memory. */
	private static final long NATIVE_BYTES_PER_STEP = 150;

	/** Measurements while the virtual machine compiles most. */
	private static final int WARM_UP = 3;

	/** The smallest object takes 16 bytes of the heap. */
	private static final long HEAP_BYTES_PER_STEP = 15;

	/** A line of output, in bytes, bytes and objects. */
	private record Usage(long allocated, long heap, long objects) {

		static Usage of(String line) {
			String[] words = line.split(" ");
			return new Usage(Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
		}

	}

	@Test
	void memoryIsFlatOverTenThousandStepsOfALoop() throws Exception {
		requireFlat(usages(), LongTraining.LOOP_INTERVAL);
	}

	@Test
	void memoryIsFlatOverFiveThousandStepsOfAJobWithTwoRanks(@TempDir Path directory) throws Exception {
		requireFlat(usages(directory.toString()), LongTraining.JOB_INTERVAL);
	}

	private static List<Usage> usages(String... arguments) throws IOException, InterruptedException {
		NativeLibraryPreparation.prepare();
		List<String> command = TestJvm.command(List.of("-XX:NativeMemoryTracking=summary"), LongTraining.class);
		command.addAll(List.of(arguments));
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		try {
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor()).as(output).isZero();
			return output.lines().filter((line) -> line.startsWith("usage ")).map(Usage::of).toList();
		}
		finally {
			process.destroyForcibly();
		}
	}

	private static void requireFlat(List<Usage> usages, int interval) {
		assertThat(usages).hasSize(LongTraining.MEASUREMENTS);
		assertThat(growth(usages, Usage::heap, interval)).as("growth of the heap per step in %s", usages)
			.isLessThan(HEAP_BYTES_PER_STEP);
		assertThat(growth(usages, Usage::allocated, interval)).as("growth of native memory per step in %s", usages)
			.isLessThan(NATIVE_BYTES_PER_STEP);
		assertThat(growth(usages, Usage::objects, interval)).as("growth of native objects per step in %s", usages)
			.isZero();
	}

	/**
	 * The median of the growths from one measurement to the next: a leak shows in each of
	 * them, what the virtual machine allocates once only in one.
	 */
	private static long growth(List<Usage> usages, ToLongFunction<Usage> value, int interval) {
		long[] growths = IntStream.range(WARM_UP, usages.size() - 1)
			.mapToLong((index) -> value.applyAsLong(usages.get(index + 1)) - value.applyAsLong(usages.get(index)))
			.sorted()
			.toArray();
		return growths[growths.length / 2] / interval;
	}

}
