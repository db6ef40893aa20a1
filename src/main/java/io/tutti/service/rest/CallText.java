package io.tutti.service.rest;

import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.spi.CallSignature;

/**
 * Announced calls in words. They have no place in an order yet, so none is told.
 */
final class CallText {

	private CallText() {
	}

	/** By rank, what each called. */
	static Map<Integer, String> byRank(Map<Integer, CallSignature> calls) {
		Map<Integer, String> words = new TreeMap<>();
		calls.forEach((rank, call) -> words.put(rank, of(call)));
		return words;
	}

	/** The first rank's call and the first that differs from it. */
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
