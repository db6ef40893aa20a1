package io.tutti.engine.spi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Checks that the bytes ahead of a call are a fingerprint or cause an
 * {@link IllegalArgumentException}.
 */
public final class FingerprintReading {

	private FingerprintReading() {
	}

	/** Reads an input; throws if the check fails. */
	public static void read(byte[] input) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment bytes = arena.allocate(Fingerprint.BYTES, 8);
			MemorySegment.copy(input, 0, bytes, ValueLayout.JAVA_BYTE, 0, Math.min(input.length, Fingerprint.BYTES));
			try {
				String text = Fingerprint.read(bytes.address()).toString();
				if (text.isEmpty()) {
					throw new AssertionError("a call with no name");
				}
			}
			catch (IllegalArgumentException ex) {
				// Expected: the stream is out of sync.
			}
		}
	}

}
