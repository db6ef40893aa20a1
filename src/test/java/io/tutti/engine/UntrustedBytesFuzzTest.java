package io.tutti.engine;

import java.util.Arrays;

import com.code_intelligence.jazzer.api.BugDetectors;
import com.code_intelligence.jazzer.api.SilentCloseable;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.tutti.engine.bootstrap.ClientMessagesFuzz;
import io.tutti.engine.bootstrap.DataHandshakeFuzz;
import io.tutti.engine.bootstrap.RankZeroMessagesFuzz;
import io.tutti.engine.control.FramesReading;
import io.tutti.engine.p2p.MessageFramesReading;
import io.tutti.engine.spi.FingerprintReading;
import io.tutti.engine.transport.shm.SharedMemoryReading;
import org.junit.jupiter.api.Timeout;

/**
 * Arbitrary bytes from a network or another process cause only the documented exceptions,
 * no memory out of proportion to the input, and no hang. One target, since each target
 * takes a JVM; the first byte of an input chooses the parser of the rest.
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
			case 3 -> DataHandshakeFuzz::read;
			case 4 -> FingerprintReading::read;
			case 5 -> SharedMemoryReading::read;
			case 6 -> MessageFramesReading::read;
			default -> throw new IllegalArgumentException("no reader " + choice);
		};
	}

}
