package io.tutti.probe;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One rank's view of its group.
 *
 * @param belongs whether the rank has the expected number, in a ready group of the
 * expected size
 * @param generation generation of the group, -1 if unknown
 * @param line the answer in readable form
 */
record RankAnswer(boolean belongs, long generation, String line) {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final long UNKNOWN = -1;

	/** Queries the endpoint of rank {@code rank} of {@code worldSize}. */
	static RankAnswer of(URI endpoint, Trust trust, int rank, int worldSize) {
		String name = "rank " + rank + " at " + endpoint.getAuthority();
		try {
			HttpAnswer answer = HttpAnswer.of(endpoint, trust, TIMEOUT);
			JsonNode group = JsonMapper.shared().readTree(answer.body());
			boolean belongs = group.path("state").asString("").equals("READY") && group.path("rank").asInt(-1) == rank
					&& group.path("worldSize").asInt(-1) == worldSize;
			return new RankAnswer(belongs, group.path("generation").asLong(UNKNOWN), name + ": " + answer.body());
		}
		catch (IOException ex) {
			return new RankAnswer(false, UNKNOWN, name + " did not answer: " + ex);
		}
		catch (JacksonException ex) {
			return new RankAnswer(false, UNKNOWN, name + " answered with invalid JSON");
		}
	}

}
