package io.tutti.service.recorder;

import java.util.Collection;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.engine.diagnosis.RankTrace;
import org.jspecify.annotations.Nullable;

/**
 * Analysis of the traces of all ranks.
 *
 * @param verdict summary as text
 * @param problem what is wrong with the group; absent if nothing is
 * @param silentRanks ranks that sent no trace
 * @param findings diagnostics of each group, the most urgent first
 * @param ranks position of each rank in its groups
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AnalysisView(String verdict, @Nullable String problem, List<Integer> silentRanks,
		List<GroupFinding> findings, List<RankPlacementView> ranks) {

	/** Combines an analysis with the traces it was made from. */
	public static AnalysisView of(Analysis analysis, Collection<RankTrace> accounts, @Nullable String problem) {
		return new AnalysisView(analysis.verdict(), problem, analysis.silentRanks(), analysis.findings(),
				accounts.stream().map(RankPlacementView::of).toList());
	}

}
