package io.tutti.engine.backend;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.FreePort;
import io.tutti.OwnThread;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Four processes add in the rows and then in the columns of a grid, and rank 0 is killed.
 * Rank 3 shares no group with it but the group of all ranks.
 */
@Timeout(120)
class LostRankZeroTest {

	private static final int RANKS = 4;

	/** Much less than the deadline of a collective. */
	private static final int PROMPT_SECONDS = 20;

	private final List<Process> ranks = new ArrayList<>();

	private final List<BufferedReader> outputs = new ArrayList<>();

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
		try (Engine engine = RankProcess.join(rank, RANKS, port, TransportChoice.valueOf(arguments[2]),
				EngineSettings.DEFAULTS.timeouts())) {
			ProcessGroup row = split(engine.world(), rank / 2);
			ProcessGroup column = split(engine.world(), rank % 2);
			int[] part = { rank };
			row.allReduce(part, ReduceOp.SUM);
			column.allReduce(part, ReduceOp.SUM);
			System.out.println("sum " + part[0]);
			if (rank == 0) {
				System.in.read();
			}
			row.allReduce(part, ReduceOp.SUM);
			System.out.println("in the column");
			if (rank == 3) {
				System.in.read();
			}
			column.allReduce(part, ReduceOp.SUM);
		}
		catch (CollectiveException ex) {
			System.out.println("failed because of " + ex.peers());
		}
	}

	private static ProcessGroup split(ProcessGroup world, int color) {
		return Objects.requireNonNull(world.split(color, world.rank()));
	}

	@ParameterizedTest
	@EnumSource(names = { "TCP", "SHM" })
	void aRankThatWaitsInAGroupWithoutTheLostRankZeroFailsToo(TransportChoice transport) throws Exception {
		startAll(transport);
		proceed(3);
		this.ranks.get(0).destroyForcibly();
		for (int rank = 1; rank < RANKS; rank++) {
			assertThat(line(rank)).isEqualTo("failed because of [0]");
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "TCP", "SHM" })
	void aGroupWithoutTheLostRankZeroFailsWhenItIsUsedLater(TransportChoice transport) throws Exception {
		startAll(transport);
		this.ranks.get(0).destroyForcibly();
		for (int rank = 1; rank < RANKS - 1; rank++) {
			assertThat(line(rank)).isEqualTo("failed because of [0]");
			assertThat(this.ranks.get(rank).waitFor(PROMPT_SECONDS, TimeUnit.SECONDS)).isTrue();
		}
		proceed(3);
		assertThat(line(3)).isEqualTo("failed because of [0]");
	}

	/** Starts the ranks until all wait for rank 0, or for rank 3 to proceed. */
	private void startAll(TransportChoice transport) throws Exception {
		int port = FreePort.next();
		for (int rank = 0; rank < RANKS; rank++) {
			Process process = RankProcess.start(LostRankZeroTest.class, rank, port, transport.name());
			this.ranks.add(process);
			this.outputs.add(process.inputReader(StandardCharsets.UTF_8));
		}
		for (int rank = 0; rank < RANKS; rank++) {
			assertThat(this.outputs.get(rank).readLine()).isEqualTo("sum 6");
		}
		for (int rank = 2; rank < RANKS; rank++) {
			assertThat(line(rank)).isEqualTo("in the column");
		}
	}

	private void proceed(int rank) throws IOException {
		this.ranks.get(rank).getOutputStream().write('\n');
		this.ranks.get(rank).getOutputStream().flush();
	}

	private String line(int rank) throws Exception {
		BufferedReader output = this.outputs.get(rank);
		return CompletableFuture.supplyAsync(() -> output.lines().findFirst().orElse("no line"), OwnThread.EXECUTOR)
			.get(PROMPT_SECONDS, TimeUnit.SECONDS);
	}

}
