package io.tutti.service.page;

import java.util.Arrays;
import java.util.List;

import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
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

	private static Analysis analysis(List<Integer> silent, GroupFinding.Kind... kinds) {
		List<GroupFinding> findings = Arrays.stream(kinds)
			.map((kind) -> new GroupFinding(kind, "world", 0, List.of(), List.of(), "text"))
			.toList();
		return new Analysis(2, silent, findings, "verdict");
	}

}
