package io.tutti.engine.backend;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.PeerStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank sends small messages over TCP, closes its group and ends, while the receiver is
 * stopped.
 */
@Timeout(120)
class EndedSenderTest {

	private static final int RANKS = 3;

	/** Within the sender's credit. The receiver returns some before the last one. */
	private static final int MESSAGES = 12;

	private static final int BYTES = 60 * 1024;

	/**
	 * Of everything, also of heartbeats: the receiver does not answer while it is
	 * stopped.
	 */
	private static final Duration LIMIT = Duration.ofSeconds(20);

	private static final Timeouts TIMEOUTS = new Timeouts(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT);

	private final List<Process> peers = new ArrayList<>();

	@AfterEach
	void endAll() throws InterruptedException {
		for (Process peer : this.peers) {
			peer.destroyForcibly().waitFor();
		}
	}

	/** The receiver, rank 1, or the sender, rank 2; arguments are rank and port. */
	public static void main(String[] arguments) throws Exception {
		int rank = Integer.parseInt(arguments[0]);
		MemorySegment buffer = MemorySegment.ofArray(new byte[BYTES]);
		try (Engine engine = join(rank, Integer.parseInt(arguments[1]))) {
			ProcessGroup group = engine.world();
			connect(group, buffer);
			System.out.println("ready");
			System.in.read();
			awaitDeparture(engine, rank);
			for (int i = 0; i < MESSAGES; i++) {
				transfer(group, buffer);
			}
		}
		System.out.println("done");
	}

	private static Engine join(int rank, int port) throws IOException {
		return RankProcess.join(rank, RANKS, port, TransportChoice.TCP, TIMEOUTS);
	}

	/** The first message enlarges the credit of the sender. */
	private static void connect(ProcessGroup group, MemorySegment buffer) {
		transfer(group, buffer);
		group.barrier();
	}

	/** The receiver learns that the sender has left. */
	private static void awaitDeparture(Engine engine, int rank) {
		while (rank == 1 && engine.control().peer(2).state() != PeerStatus.State.LEFT) {
			LockSupport.parkNanos(1_000_000);
		}
	}

	private static void transfer(ProcessGroup group, MemorySegment buffer) {
		if (group.rank() == 2) {
			group.send(buffer, DataType.INT8, 1, 0);
		}
		else if (group.rank() == 1) {
			group.receive(buffer, DataType.INT8, 2, 0);
		}
	}

	@Test
	void itsMessagesArrive() throws Exception {
		int port = FreePort.next();
		Process receiver = start(1, port);
		Process sender = start(2, port);
		try (Engine engine = join(0, port);
				BufferedReader ofReceiver = receiver.inputReader(StandardCharsets.UTF_8);
				BufferedReader ofSender = sender.inputReader(StandardCharsets.UTF_8)) {
			connect(engine.world(), MemorySegment.NULL);
			assertThat(ofReceiver.readLine()).isEqualTo("ready");
			assertThat(ofSender.readLine()).isEqualTo("ready");
			signal(receiver, "STOP");
			sender.getOutputStream().close();
			assertThat(ofSender.readLine()).isEqualTo("done");
			assertThat(sender.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
			receiver.getOutputStream().close();
			signal(receiver, "CONT");
			assertThat(ofReceiver.readLine()).isEqualTo("done");
		}
	}

	private static void signal(Process process, String name) throws Exception {
		new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
	}

	private Process start(int rank, int port) throws IOException {
		Process peer = RankProcess.start(EndedSenderTest.class, rank, port);
		this.peers.add(peer);
		return peer;
	}

}
