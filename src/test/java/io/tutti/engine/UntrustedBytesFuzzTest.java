package io.tutti.engine;

import java.util.Arrays;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.tutti.engine.bootstrap.ClientMessagesFuzz;
import io.tutti.engine.bootstrap.RankZeroMessagesFuzz;
import io.tutti.engine.control.FramesReading;
import io.tutti.engine.p2p.MessageFramesReading;
import io.tutti.engine.spi.FingerprintReading;
import io.tutti.engine.transport.shm.SharedMemoryReading;
import io.tutti.engine.transport.tcp.DataHandshakeReading;
import org.junit.jupiter.api.Timeout;

/**
 * Whatever bytes come over a network or from another process: no exception but the ones
 * that are named, no memory beyond what the bytes justify, no hang. One target, since a
 * search takes a JVM for each; the first byte of an input chooses who reads the rest.
 */
@Timeout(120)
class UntrustedBytesFuzzTest {

	private static final int READERS = 7;

	@FuzzTest(maxDuration = "20s")
	void noBytesOfStrangersDoHarm(byte[] input) throws Exception {
		if (input.length == 0) {
			return;
		}
		try (SilentCloseable _ = BugDetectors.allowNetworkConnections((host, port) -> host.equals("localhost"))) {
			Allowance.check(Arrays.copyOfRange(input, 1, input.length), reader(Math.floorMod(input[0], READERS)));
		}
	}

	private static Allowance.Reading reader(int choice) {
		return switch (choice) {
			case 0 -> FramesReading::read;
			case 1 -> ClientMessagesFuzz::read;
			case 2 -> RankZeroMessagesFuzz::read;
			case 3 -> DataHandshakeReading::read;
			case 4 -> FingerprintReading::read;
			case 5 -> SharedMemoryReading::read;
			case 6 -> MessageFramesReading::read;
			default -> throw new IllegalArgumentException("no reader " + choice);
		};
	}

}
