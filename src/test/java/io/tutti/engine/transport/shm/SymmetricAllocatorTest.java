package io.tutti.engine.transport.shm;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.TestJvm;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class SymmetricAllocatorTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@TempDir
	private Path directory;

	/** Two ranks of a process that may reserve no buffer of a MiB. */
	public static void main(String[] arguments) throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		RankThreads.run(2, LIMIT, (rank) -> {
			SymmetricAllocator allocator = new SymmetricAllocator(rank, 2, exchange.rank(rank),
					new SegmentDirectory(new SharedMemorySettings(Path.of(arguments[0]), "allocator")),
					Deadline.after(LIMIT));
			return ((allocator.allocate(1 << 20) == null) ? "refused: " : "allocated: ") + allocator.refusal();
		}).forEach(System.out::println);
	}

	@Test
	void aRankWithoutMemoryForTheReservationLeavesEveryRankWithoutTheAllocation() throws Exception {
		Path output = this.directory.resolve("output");
		Path segments = Files.createDirectory(this.directory.resolve("segments"));
		Process process = new ProcessBuilder(
				TestJvm.command(List.of("-XX:MaxDirectMemorySize=512k"), SymmetricAllocatorTest.class, segments))
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		try {
			assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
			assertThat(Files.readAllLines(output)).hasSize(2)
				.allSatisfy(
						(line) -> assertThat(line).startsWith("refused: rank 0 reports: Cannot reserve 1048576 bytes"));
			assertThat(segments).isEmptyDirectory();
		}
		finally {
			process.destroyForcibly().waitFor();
		}
	}

	@Test
	void aNameThatCannotBeRemovedLeavesEveryRankWithoutTheAllocation() throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		AtomicInteger steps = new AtomicInteger();
		MetadataExchange replacing = (mine, deadline) -> {
			byte[][] all = exchange.rank(0).allGather(mine, deadline);
			if (steps.incrementAndGet() == 2) {
				Irremovable.replaceIn(this.directory);
			}
			return all;
		};
		List<String> refusals = RankThreads.run(2, LIMIT, (rank) -> {
			SymmetricAllocator allocator = new SymmetricAllocator(rank, 2, (rank == 0) ? replacing : exchange.rank(1),
					new SegmentDirectory(new SharedMemorySettings(this.directory, "allocator")), Deadline.after(LIMIT));
			assertThat(allocator.allocate(100)).isNull();
			return allocator.refusal();
		});
		assertThat(refusals)
			.allSatisfy((refusal) -> assertThat(refusal).contains("rank 0 reports", "cannot be removed"));
		assertThat(Files.readString(Path.of("/proc/self/maps"))).doesNotContain(this.directory.toString());
	}

}
