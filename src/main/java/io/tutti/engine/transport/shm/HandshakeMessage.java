package io.tutti.engine.transport.shm;

import java.util.List;

import io.tutti.engine.spi.MetadataExchange;
import org.jspecify.annotations.Nullable;

/**
 * One rank's message in one step of the handshake.
 *
 * @param usable whether this rank can continue
 * @param first a number that depends on the step
 * @param second another such number
 * @param text a name that depends on the step, or the reason why the rank cannot continue
 */
public record HandshakeMessage(boolean usable, long first, long second, String text) {

	static final HandshakeMessage NOTHING = new HandshakeMessage(true, 0, 0, "");

	public HandshakeMessage {
		text = MetadataExchange.truncated(text);
	}

	static HandshakeMessage refusal(String reason) {
		return new HandshakeMessage(false, 0, 0, reason);
	}

	/**
	 * The first refusal of some ranks, with the rank that sent it; {@code null} if none
	 * refused.
	 */
	@SafeVarargs
	static @Nullable String refusal(List<Integer> ranks, List<HandshakeMessage>... steps) {
		for (List<HandshakeMessage> step : steps) {
			for (int rank : ranks) {
				if (!step.get(rank).usable()) {
					return "rank " + rank + " reports: " + step.get(rank).text();
				}
			}
		}
		return null;
	}

}
