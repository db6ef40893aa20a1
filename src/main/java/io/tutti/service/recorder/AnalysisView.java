package io.tutti.service.recorder;

import java.util.Collection;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.control.diagnosis.Analysis;
import io.tutti.engine.control.diagnosis.GroupFinding;
import io.tutti.engine.control.diagnosis.RankTrace;
import org.jspecify.annotations.Nullable;

/**
 * What the accounts of all ranks say together.
 *
 * @param verdict the whole in words
 * @param problem what broke the group, in words; absent while it is whole
 * @param silentRanks ranks that gave no account
 * @param findings what there is to say of each group, the most pressing first
 * @param ranks how far each rank has come
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record AnalysisView(String verdict, @Nullable String problem, List<Integer> silentRanks,
		List<GroupFinding> findings, List<RankPlacementView> ranks) {

	/** What was found, and the accounts that it was found in. */
	public static AnalysisView of(Analysis analysis, Collection<RankTrace> accounts, @Nullable String problem) {
		return new AnalysisView(analysis.verdict(), problem, analysis.silentRanks(), analysis.findings(),
				accounts.stream().map(RankPlacementView::of).toList());
	}

}
