package io.tutti.engine.backend;

import java.io.BufferedReader;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three processes: rank 0 is stopped, so that it sends no verdict, and rank 2 is killed,
 * while rank 1 issues sends to and receives from it.
 */
@Timeout(120)
class LostRankMessagesTest {

	private static final int RANKS = 3;

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** Limit from the verdict to the end of the last operation, on a busy machine. */
	private static final Duration PROMPT = Duration.ofSeconds(10);

	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, Duration.ofMinutes(10), Duration.ofSeconds(4),
			Duration.ofSeconds(2), LIMIT);

	private static final long MILLISECOND = 1_000_000;

	private final List<Process> ranks = new ArrayList<>();

	@AfterEach
	void endAll() throws InterruptedException {
		for (Process rank : this.ranks) {
			rank.destroyForcibly().waitFor();
		}
	}

	/** One rank; arguments are the rank, the rendezvous port and the transport. */
	public static void main(String[] arguments) throws Exception {
		int rank = Integer.parseInt(arguments[0]);
		int port = Integer.parseInt(arguments[1]);
		try (Engine engine = RankProcess.join(rank, RANKS, port, TransportChoice.valueOf(arguments[2]), TIMEOUTS)) {
			connect(engine.world());
			System.out.println("ready");
			if (rank == 1) {
				System.out.println(issueUntilTheGroupFails(engine.world()));
			}
			else {
				System.in.read();
			}
		}
	}

	private static void connect(ProcessGroup group) {
		MemorySegment buffer = MemorySegment.ofArray(new byte[1]);
		if (group.rank() == 1) {
			group.send(buffer, DataType.INT8, 2, 0);
		}
		else if (group.rank() == 2) {
			group.receive(buffer, DataType.INT8, 1, 0);
		}
		group.barrier();
	}

	private static String issueUntilTheGroupFails(ProcessGroup group) throws Exception {
		List<CompletableFuture<?>> issued = new ArrayList<>();
		try {
			while (true) {
				MemorySegment buffer = MemorySegment.ofArray(new byte[10]);
				issued.add((issued.size() % 2 == 0) ? group.receiveAsync(buffer, DataType.INT8, 2, 1).toFuture()
						: group.sendAsync(buffer, DataType.INT8, 2, 2).toFuture());
				LockSupport.parkNanos(MILLISECOND);
			}
		}
		catch (CollectiveException ex) {
			try {
				CompletableFuture.allOf(issued.toArray(CompletableFuture[]::new))
					.handle((done, failure) -> null)
					.get(PROMPT.toMillis(), TimeUnit.MILLISECONDS);
			}
			catch (TimeoutException late) {
				// The counter is checked instead.
			}
			long open = issued.stream().filter((future) -> !future.isDone()).count();
			return "still open: " + open + " of " + issued.size() + " after " + ex.getMessage();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "TCP", "SHM" })
	void everyMessageEndsWithTheVerdict(TransportChoice transport) throws Exception {
		int port = FreePort.next();
		for (int rank = 0; rank < RANKS; rank++) {
			this.ranks.add(RankProcess.start(LostRankMessagesTest.class, rank, port, transport.name()));
		}
		try (BufferedReader one = this.ranks.get(1).inputReader(StandardCharsets.UTF_8)) {
			assertThat(one.readLine()).isEqualTo("ready");
			new ProcessBuilder("kill", "-STOP", String.valueOf(this.ranks.get(0).pid())).start().waitFor();
			this.ranks.get(2).destroyForcibly();
			assertThat(one.readLine()).startsWith("still open: 0 of ").contains(" lost");
		}
	}

}
