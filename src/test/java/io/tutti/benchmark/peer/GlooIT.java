package io.tutti.benchmark.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.BufferKind;
import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The program for Gloo with the installed library. The measured values are not checked.
 */
@Timeout(240)
class GlooIT {

	private static final Path HEADER = Path.of("/usr/include/gloo/config.h");

	private static final long BYTES = 1024;

	@TempDir
	Path directory;

	@Test
	void everyVariantOfEveryOperationHasRightResults() throws Exception {
		Assumptions.assumeTrue(SearchPath.ofThisProcess().find("g++").isPresent() && Files.exists(HEADER),
				"g++ or the development package of Gloo is not installed");
		BenchmarkOptions options = new BenchmarkOptions(List.of(Operation.values()), BYTES, BYTES, 2, 5, 1,
				DataType.FLOAT32, ReduceOp.SUM, BufferKind.PRIVATE, Duration.ofMillis(1));
		List<String> notes = new ArrayList<>();
		List<Measurement> lines = new PeerBenchmark(new PeerJob(options, 2, false, "system", true), this.directory,
				notes::add)
			.run(Peer.GLOO);
		assertThat(notes).isEmpty();
		assertThat(lines).extracting((line) -> line.operation() + " " + line.transport())
			.contains("reduce-scatter tcp-hd", "all-gather tcp", "all-gather tcp-ring", "broadcast tcp",
					"broadcast tcp-bound", "send-receive tcp", "send-receive tcp-bound");
		assertThat(lines).extracting(Measurement::operation).containsAll(List.of(Operation.values()));
		Assumptions.assumeTrue(Runtime.getRuntime().availableProcessors() >= 2, "polling needs a core for each rank");
		assertThat(lines.stream().filter((line) -> line.transport().endsWith("-busy-poll")))
			.extracting(Measurement::operation)
			.containsExactly(Operation.ALL_REDUCE, Operation.BROADCAST, Operation.ALL_GATHER, Operation.REDUCE_SCATTER,
					Operation.BARRIER, Operation.SEND_RECEIVE);
	}

}
