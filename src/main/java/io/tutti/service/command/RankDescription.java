package io.tutti.service.command;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.tutti.engine.RankAssignment;
import io.tutti.launch.ResolvedRank;

/**
 * A resolved rank in machine-readable form, the same from {@code env --json} and over
 * HTTP.
 *
 * @param rank rank in the group
 * @param worldSize ranks in the group
 * @param localRank rank among the ranks of this host
 * @param localWorldSize ranks on this host
 * @param masterAddress host of the rendezvous
 * @param masterPort port of the rendezvous
 * @param source the launcher whose variables are used
 * @param used the variables that are used, with their values
 * @param ignored one line for each variable that is set but not used
 * @param conflicts one line for each set of variables that disagrees
 */
@JsonPropertyOrder({ "rank", "worldSize", "localRank", "localWorldSize", "masterAddress", "masterPort", "source",
		"used", "ignored", "conflicts" })
public record RankDescription(int rank, int worldSize, int localRank, int localWorldSize, String masterAddress,
		int masterPort, String source, Map<String, String> used, List<String> ignored, List<String> conflicts) {

	/** Describes a resolved rank. */
	public static RankDescription of(ResolvedRank resolved) {
		RankAssignment who = resolved.assignment();
		return new RankDescription(who.rank(), who.worldSize(), who.localRank(), who.localWorldSize(),
				who.masterAddress(), who.masterPort(), resolved.source(), resolved.used(), resolved.ignored(),
				resolved.conflicts());
	}

	/** The description as one line of JSON. */
	String json() {
		return String.format(Locale.ROOT, "{\"rank\":%d,\"worldSize\":%d,\"localRank\":%d,\"localWorldSize\":%d",
				this.rank, this.worldSize, this.localRank, this.localWorldSize) + ",\"masterAddress\":"
				+ quoted(this.masterAddress) + ",\"masterPort\":" + this.masterPort + ",\"source\":"
				+ quoted(this.source) + ",\"used\":"
				+ this.used.entrySet()
					.stream()
					.map((entry) -> quoted(entry.getKey()) + ":" + quoted(entry.getValue()))
					.collect(Collectors.joining(",", "{", "}"))
				+ ",\"ignored\":" + array(this.ignored) + ",\"conflicts\":" + array(this.conflicts) + "}";
	}

	private static String array(List<String> texts) {
		return texts.stream().map(RankDescription::quoted).collect(Collectors.joining(",", "[", "]"));
	}

	private static String quoted(String text) {
		StringBuilder quoted = new StringBuilder("\"");
		for (int i = 0; i < text.length(); i++) {
			char c = text.charAt(i);
			switch (c) {
				case '"', '\\' -> quoted.append('\\').append(c);
				case '\n' -> quoted.append("\\n");
				case '\r' -> quoted.append("\\r");
				case '\t' -> quoted.append("\\t");
				case '\b' -> quoted.append("\\b");
				case '\f' -> quoted.append("\\f");
				default ->
					quoted.append((c < ' ') ? String.format(Locale.ROOT, "\\u%04X", (int) c) : String.valueOf(c));
			}
		}
		return quoted.append('"').toString();
	}

	/** The description as text, one line per fact. */
	public String text() {
		StringBuilder text = new StringBuilder();
		text.append(String.format(Locale.ROOT, "rank %d of %d%n", this.rank, this.worldSize));
		text.append(String.format(Locale.ROOT, "source: %s%n", this.source));
		text.append(
				String.format(Locale.ROOT, "local rank %d of %d on this host%n", this.localRank, this.localWorldSize));
		text.append(String.format(Locale.ROOT, "rendezvous at %s port %d%n", this.masterAddress, this.masterPort));
		this.used.forEach((name, value) -> text.append(String.format(Locale.ROOT, "used: %s=%s%n", name, value)));
		this.ignored.forEach((line) -> text.append(String.format(Locale.ROOT, "note: %s%n", line)));
		this.conflicts.forEach((line) -> text.append(String.format(Locale.ROOT, "conflict: %s%n", line)));
		return text.toString();
	}

}
