package io.tutti.service.rest;

import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.spi.CallSignature;

/**
 * Text for calls that are being matched. Such calls have no sequence number yet, so the
 * text omits it.
 */
final class CallText {

	private CallText() {
	}

	/** The text of each rank's call, by rank. */
	static Map<Integer, String> byRank(Map<Integer, CallSignature> calls) {
		Map<Integer, String> words = new TreeMap<>();
		calls.forEach((rank, call) -> words.put(rank, of(call)));
		return words;
	}

	/** The first rank's call and the first call that differs from it. */
	static String difference(Map<Integer, CallSignature> calls) {
		Map<Integer, String> words = byRank(calls);
		var first = words.entrySet().iterator().next();
		return words.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().equals(first.getValue()) && calls.get(entry.getKey()).count() >= 0)
			.findFirst()
			.or(() -> words.entrySet()
				.stream()
				.filter((entry) -> !entry.getValue().equals(first.getValue()))
				.findFirst())
			.map((other) -> "rank " + first.getKey() + " called " + first.getValue() + ", rank " + other.getKey()
					+ " called " + other.getValue())
			.orElse("rank " + first.getKey() + " called " + first.getValue());
	}

	private static String of(CallSignature call) {
		String words = call.toString().replace(" #" + call.sequence(), "");
		return (call.count() < 0) ? words.replace("count " + call.count(), "any count") : words;
	}

}
