package io.tutti.engine.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.spi.GroupIdentity;

/**
 * Diagnostics from the traces of all ranks.
 *
 * @param worldSize number of ranks asked
 * @param silentRanks the ranks that returned no trace, by rank
 * @param findings the finding for each group, the most urgent first
 * @param verdict a summary as text
 */
public record Analysis(int worldSize, List<Integer> silentRanks, List<GroupFinding> findings, String verdict) {

	/** Compares the traces of the ranks that returned one. */
	public static Analysis of(int worldSize, Map<Integer, RankTrace> traces) {
		List<Integer> silent = GroupIdentity.ranksWhere(worldSize, (rank) -> !traces.containsKey(rank));
		List<Integer> unasked = unasked(silent, traces);
		List<GroupFinding> findings = new ArrayList<>();
		groups(traces)
			.forEach((name, members) -> findings.add(new GroupComparison(name, members, traces, unasked).find()));
		findings.sort(Comparator.comparing(GroupFinding::kind));
		return new Analysis(worldSize, silent, List.copyOf(findings), verdict(silent, unasked, findings));
	}

	/**
	 * The ranks whose state is unknown. Queries go through rank 0, so if it is silent and
	 * only the asking rank has a trace, the other ranks were not asked.
	 */
	private static List<Integer> unasked(List<Integer> silent, Map<Integer, RankTrace> traces) {
		return (silent.contains(0) && traces.size() == 1) ? silent.stream().filter((rank) -> rank != 0).toList()
				: List.of();
	}

	/** Every group of any rank. All ranks of a group agree on its members. */
	private static Map<String, List<Integer>> groups(Map<Integer, RankTrace> traces) {
		Map<String, List<Integer>> groups = new LinkedHashMap<>();
		for (RankTrace trace : new TreeMap<>(traces).values()) {
			trace.groups().forEach((group) -> groups.putIfAbsent(group.group(), group.members()));
		}
		return groups;
	}

	private static String verdict(List<Integer> silent, List<Integer> unasked, List<GroupFinding> findings) {
		List<String> sentences = new ArrayList<>();
		if (!unasked.isEmpty()) {
			sentences.add("rank 0 returned no trace, and " + DiagnosisText.ranks(unasked)
					+ " can only be queried through rank 0");
		}
		else if (!silent.isEmpty()) {
			sentences.add(DiagnosisText.ranks(silent) + " returned no trace");
		}
		findings.stream().filter(GroupFinding::isTrouble).map(GroupFinding::text).forEach(sentences::add);
		if (sentences.isEmpty()) {
			findings.stream().map(GroupFinding::text).limit(1).forEach(sentences::add);
		}
		return sentences.isEmpty() ? "no group has formed" : String.join(". ", sentences);
	}

}
