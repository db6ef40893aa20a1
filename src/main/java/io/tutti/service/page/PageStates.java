package io.tutti.service.page;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.tutti.Failure;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupSnapshot;
import io.tutti.service.group.GroupStatus;
import io.tutti.service.recorder.TrainingProgress;
import io.tutti.service.recorder.TrainingWatch;
import org.jspecify.annotations.Nullable;

/**
 * Collects the state of the job: queries every rank over the control plane and reads this
 * rank's own state. Not thread-safe.
 */
final class PageStates {

	/**
	 * A rank that has left or is lost is not waited for. A rank of a busy machine may
	 * answer late and is not missing.
	 */
	private static final Duration QUERY_LIMIT = Duration.ofSeconds(2);

	/** Calls of each group that the analysis reads. */
	private static final int TELLING = 64;

	private static final int MOST_IN_FLIGHT = 50;

	private final GroupLifecycle group;

	private final EngineSettings settings;

	private final TrainingWatch training;

	private final PageHistory history;

	PageStates(GroupLifecycle group, EngineSettings settings, TrainingWatch training, PageHistory history) {
		this.history = history;
		this.group = group;
		this.settings = settings;
		this.training = training;
	}

	PageState take() {
		JoinedGroup joined;
		Map<Integer, RankTrace> accounts;
		GroupSnapshot now;
		do {
			joined = this.group.joined();
			accounts = (joined != null) ? joined.accounts(TELLING, QUERY_LIMIT) : Map.of();
			// The group may have broken, or formed again, during the query.
			now = this.group.snapshot();
		}
		while (now.joined() != joined);
		return state(now, accounts);
	}

	private PageState state(GroupSnapshot now, Map<Integer, RankTrace> accounts) {
		JoinedGroup joined = now.joined();
		GroupStatus status = now.status();
		int rank = now.assignment().rank();
		int worldSize = now.assignment().worldSize();
		List<PeerStatus> peers = (joined != null) ? joined.control().peers() : List.of();
		Analysis analysis = Analysis.of(worldSize, accounts);
		this.history.skew(skewMicros(analysis));
		return new PageState(status.state(), rank, worldSize, this.settings.backend(),
				(joined != null) ? joined.world().transport() : null,
				(joined != null) ? joined.world().generation() : null, problem(status),
				(joined != null) ? analysis.verdict() : null, (joined != null) ? trouble(analysis) : null,
				new RankCards(rank, accounts, peers, analysis, status.failure()).all(worldSize), inFlight(accounts),
				this.history.latest(), this.history.events(), training());
	}

	/** The most urgent problem in a few words. */
	static @Nullable String trouble(Analysis analysis) {
		if (!analysis.silentRanks().isEmpty()) {
			return "ranks are missing";
		}
		GroupFinding finding = analysis.findings().stream().filter(GroupFinding::isTrouble).findFirst().orElse(null);
		return (finding == null) ? null : switch (finding.kind()) {
			case MISMATCH -> "ranks called different collectives";
			case MISSING -> "ranks are missing";
			case LONG_CALL -> "a call takes long";
			case STRAGGLING -> "a rank is late";
			case MOVING, IDLE -> null;
		};
	}

	private @Nullable String problem(GroupStatus status) {
		List<Integer> awaited = this.group.history().awaited();
		if (awaited.isEmpty()) {
			return status.problem();
		}
		String waiting = "waiting for the ranks launched as " + awaited;
		return (status.problem() != null) ? status.problem() + "; " + waiting : waiting;
	}

	private @Nullable TrainingView training() {
		TrainingProgress progress = this.training.progress();
		return (progress != null) ? TrainingView.of(progress) : null;
	}

	private static List<FlightRow> inFlight(Map<Integer, RankTrace> accounts) {
		List<FlightRow> rows = new ArrayList<>();
		for (RankTrace account : accounts.values()) {
			for (GroupTrace each : account.groups()) {
				CallRecord running = each.running();
				if (running != null) {
					rows.add(new FlightRow(account.rank(), each.group(), running.call().toString(), running.bytes(),
							TimeUnit.NANOSECONDS.toMicros(running.durationNanos(account.takenNanos()))));
				}
			}
		}
		rows.sort(Comparator.comparingLong(FlightRow::durationMicros).reversed());
		return rows.subList(0, Math.min(MOST_IN_FLIGHT, rows.size()));
	}

	private static @Nullable Long skewMicros(Analysis analysis) {
		return analysis.findings()
			.stream()
			.filter((finding) -> finding.group().equals(Failure.WORLD))
			.flatMap((finding) -> finding.arrivals().stream())
			.map(GroupFinding.Arrival::meanMicros)
			.max(Long::compare)
			.orElse(null);
	}

}
