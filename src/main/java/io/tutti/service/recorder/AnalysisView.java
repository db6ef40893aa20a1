package io.tutti.service.recorder;

import java.util.Collection;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
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

	/**
	 * Position of a rank in its groups.
	 *
	 * @param rank the rank
	 * @param groups groups of the rank, the world group first
	 */
	public record RankPlacementView(int rank, List<Place> groups) {

		/**
		 * Position of a rank in a group.
		 *
		 * @param group name of the group
		 * @param lastSequence sequence number of the last call that it entered, -1 for
		 * none
		 * @param running the call in progress; absent if there is none
		 */
		@JsonInclude(JsonInclude.Include.NON_NULL)
		public record Place(String group, long lastSequence, @Nullable CallView running) {

			static Place of(RankTrace account, GroupTrace group) {
				CallRecord running = group.running();
				return new Place(group.group(), group.last(), (running != null) ? CallView.of(account, running) : null);
			}

		}

		static RankPlacementView of(RankTrace account) {
			return new RankPlacementView(account.rank(),
					account.groups().stream().map((group) -> Place.of(account, group)).toList());
		}

	}

}
