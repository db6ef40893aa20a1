package io.tutti.service.page;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.service.group.FakeGenerations;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class PageStatesTest {

	@ParameterizedTest
	@CsvSource({ "MISMATCH, ranks called different collectives", "MISSING, ranks are missing",
			"LONG_CALL, a call takes long", "STRAGGLING, a rank is late", "MOVING,", "IDLE," })
	void theTroubleIsNamedByTheFinding(GroupFinding.Kind kind, String trouble) {
		assertThat(PageStates.trouble(analysis(List.of(), GroupFinding.Kind.IDLE, kind))).isEqualTo(trouble);
	}

	@Test
	void aSilentRankIsMissing() {
		assertThat(PageStates.trouble(analysis(List.of(1), GroupFinding.Kind.STRAGGLING)))
			.isEqualTo("ranks are missing");
	}

	@Test
	void aGroupThatBreaksDuringTheQueryIsBroken() throws Exception {
		FakeGroup fake = new FakeGroup(1, 3, 4);
		GroupLifecycle group = new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500), EngineSettings.DEFAULTS,
				FakeJoiner.of(fake), CollectiveListener.NONE);
		group.start();
		group.formed().get(10, TimeUnit.SECONDS);
		TrainingWatch training = new TrainingWatch();
		PageStates states = new PageStates(group, EngineSettings.DEFAULTS, training, new PageHistory(group, training));
		assertThat(states.take().state()).isEqualTo(GroupState.READY);
		fake.duringQuery(
				() -> fake.fail(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2), "it was killed")));
		PageState state = states.take();
		assertThat(state.state()).isEqualTo(GroupState.BROKEN);
		assertThat(state.problem()).contains("rank 2 lost");
		group.stop();
	}

	@Test
	void aStateIsOfOneGenerationEvenIfTheNextOneFormsDuringTheQuery() {
		FakeGenerations generations = new FakeGenerations(2, 3);
		GroupLifecycle group = generations.lifecycle();
		TrainingWatch training = new TrainingWatch();
		PageStates states = new PageStates(group, EngineSettings.DEFAULTS, training, new PageHistory(group, training));
		FakeGroup first = new FakeGroup(2, 3, 0);
		FakeGroup next = new FakeGroup(1, 2, 1);
		next.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.LEFT));
		first.duringQuery(() -> generations.form(next, List.of(1, 2)));
		generations.form(first, List.of(0, 1, 2));
		PageState state = states.take();
		assertThat(state.problem()).isEqualTo("rank 0 has left; no collective can run without it");
		assertThat(state.generation()).isEqualTo(1);
		assertThat(state.rank()).isEqualTo(1);
		assertThat(state.worldSize()).isEqualTo(2);
	}

	private static Analysis analysis(List<Integer> silent, GroupFinding.Kind... kinds) {
		List<GroupFinding> findings = Arrays.stream(kinds)
			.map((kind) -> new GroupFinding(kind, "world", 0, List.of(), List.of(), "text"))
			.toList();
		return new Analysis(2, silent, findings, "verdict");
	}

}
