package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Result of a roll call that one rank makes over the control plane.
 *
 * @param complete whether every rank answered
 * @param line the result in readable form
 */
record RollCall(boolean complete, String line) {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final int OK = 200;

	/**
	 * Requests a roll call from a rank.
	 * @param rank address of the rank
	 * @param token the job's token; empty if it has none
	 */
	static RollCall by(URI rank, String token, Trust trust, int worldSize) {
		try {
			HttpAnswer answer = HttpAnswer.ofPost(rank.resolve("/api/v1/roll-call"), token, trust, TIMEOUT);
			if (answer.status() != OK) {
				return new RollCall(false, "roll call: rejected with " + answer.status() + ": " + answer.body());
			}
			JsonNode roll = JsonMapper.shared().readTree(answer.body());
			boolean complete = roll.path("answered").size() == worldSize && roll.path("silentRanks").isEmpty();
			return new RollCall(complete, "roll call: " + answer.body());
		}
		catch (IOException ex) {
			return new RollCall(false, "roll call: no answer: " + ex);
		}
		catch (JacksonException ex) {
			return new RollCall(false, "roll call: answered with invalid JSON");
		}
	}

}
