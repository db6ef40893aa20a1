package io.tutti.service.rest;

/**
 * Example requests and responses for the OpenAPI description. Tests send the requests and
 * compare the responses.
 */
final class Examples {

	static final String BARRIER = """
			{"label": "epoch-3", "timeoutMs": 30000}""";

	static final String BARRIER_PASSED = """
			{"label": "epoch-3", "round": 0, "arrived": 3, "waitedMs": 41, "skewMs": [0, 12, 40]}""";

	static final String ROLL_CALL = """
			{"timeoutMs": 2000}""";

	static final String ROLL_CALL_ANSWERED = """
			{"rank": 1, "worldSize": 3, "answered": [{"rank": 0, "roundTripMicros": 250}, {"rank": 1, "roundTripMicros": 0}],
			"silentRanks": [2], "elapsedMs": 2000}""";

	static final String ABORT = """
			{"reason": "the data were wrong"}""";

	static final String ABORTING = """
			{"action": "abort", "reason": "the data were wrong"}""";

	static final String DRAIN = """
			{"reason": "maintenance"}""";

	static final String DRAINING = """
			{"action": "drain", "reason": "maintenance"}""";

	static final String GROUP = """
			{"state": "READY", "rank": 1, "worldSize": 3, "localRank": 1, "localWorldSize": 3, "backend": "tcp",
			"generation": 4, "peers": {"up": 1, "unknown": 0, "left": 0, "lost": 1, "medianRoundTripMicros": 250,
			"maxRoundTripMicros": 250, "slowestRank": 0, "maxSilenceMs": 12}}""";

	static final String PEERS = """
			[{"rank": 0, "state": "UP", "address": "10.0.0.1:41000", "transport": "tcp", "lastSeenMs": 12,
			"roundTripMicros": 250}]""";

	static final String FLIGHT_RECORDER = """
			{"rank": 0, "worldSize": 3, "generation": 0, "takenAt": "2026-11-21T08:00:00.000123Z",
			"groups": [{"group": "world", "members": [0, 1, 2], "transport": "shm", "lastSequence": 17,
			"calls": [{"sequence": 17, "collective": "all-reduce", "count": 1024, "type": "float32", "op": "sum",
			"bytes": 4096, "state": "DONE", "issuedAt": "2026-11-21T07:59:59.5Z", "waitedMicros": 0.1,
			"durationMicros": 12.5, "algorithm": "flat"}]}]}""";

	static final String ANALYSIS = """
			{"verdict": "group world is at #17", "silentRanks": [],
			"findings": [{"kind": "MOVING", "group": "world", "sequence": 17, "ranks": [], "arrivals": [],
			"text": "group world is at #17"}],
			"ranks": [{"rank": 0, "groups": [{"group": "world", "lastSequence": 17}]}]}""";

	private Examples() {
	}

}
