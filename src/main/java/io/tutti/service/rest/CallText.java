package io.tutti.service.rest;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.control.CallMatch.Announced;
import io.tutti.engine.spi.CallSignature;

/**
 * Text for calls that are being matched. Such calls have no sequence number yet, so the
 * text omits it.
 */
final class CallText {

	private CallText() {
	}

	/** The text of each rank's call, by rank. */
	static Map<Integer, String> byRank(List<Announced> calls) {
		Map<Integer, String> words = new TreeMap<>();
		calls.forEach((one) -> words.put(one.rank(), of(one.call())));
		return words;
	}

	/** The first rank's call and the first call that differs from it. */
	static String difference(List<Announced> calls) {
		Announced first = calls.getFirst();
		List<Announced> others = calls.stream().filter((one) -> !of(one.call()).equals(of(first.call()))).toList();
		return others.stream()
			.filter((one) -> one.call().count() >= 0)
			.findFirst()
			.or(() -> others.stream().findFirst())
			.map((other) -> text(first) + ", " + text(other))
			.orElse(text(first));
	}

	private static String text(Announced one) {
		return "rank " + one.rank() + " called " + of(one.call());
	}

	private static String of(CallSignature call) {
		String words = call.toString().replace(" #" + call.sequence(), "");
		return (call.count() < 0) ? words.replace("count " + call.count(), "any count") : words;
	}

}
