package io.tutti.engine.elastic;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.Continuation.Fate;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.engine.elastic.FormationEndpoint.Answer;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Phase;
import io.tutti.engine.elastic.FormationMessage.Status;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Jobs of three slots whose base are the members of slots 0, 1 and, in some, 2.
 */
@Timeout(20)
class ContinuationTest {

	private static final Answer REFUSED = new Answer.Refused(Set.of(InetAddress.getLoopbackAddress()));

	private final Set<Member> ended = new HashSet<>();

	private final Map<Integer, Answer> answers = new HashMap<>();

	private final List<Join> joins = new ArrayList<>();

	private static Member member(int slot) {
		return new Member(slot, "m" + slot, "host");
	}

	private static Formation formation(long generation, int... slots) {
		return new Formation(generation, "f" + generation,
				IntStream.of(slots).mapToObj((slot) -> member(slot)).toList());
	}

	private static final Formation TWO = formation(5, 0, 1);

	private static final Formation THREE = formation(5, 0, 1, 2);

	private Continuation of(Formation base, QuorumRule rule) {
		List<Endpoint> endpoints = IntStream.range(0, 3).mapToObj((slot) -> new Endpoint("host", 1 + slot)).toList();
		return new Continuation(base, this.joins, this.answers,
				new ElasticSettings(1, Duration.ZERO, 0, rule, endpoints),
				(one, answer) -> answer instanceof Answer.Refused && this.ended.contains(one));
	}

	private Formation withoutQuorum(Formation base) {
		return of(base, QuorumRule.LIVE).withoutQuorum();
	}

	private void join(@Nullable Formation base, int slot, List<Formation> accepted, String... dead) {
		this.joins.add(new Join(member(slot), base, accepted, 5, List.of(dead)));
	}

	@Test
	void aMemberWhoseConnectionWasClosedDoesNotCount() {
		join(TWO, 1, List.of(), "m0");
		assertThat(withoutQuorum(TWO)).isNull();
		assertThat(of(TWO, QuorumRule.STRICT).withoutQuorum()).as("unless all members count").isEqualTo(TWO);
	}

	@Test
	void aConnectionThatWasClosedInAnotherGenerationIsNoEvidence() {
		Formation base = formation(5, 1, 2);
		join(base, 2, List.of());
		join(null, 0, List.of(), "m1");
		assertThat(withoutQuorum(base)).as("the process was still a member of the base").isEqualTo(base);
		join(formation(4, 0, 1), 0, List.of(), "m1");
		assertThat(withoutQuorum(base)).isEqualTo(base);
	}

	@Test
	void aClosedConnectionDoesNotCountAgainstAProcessThatAnswers() {
		join(TWO, 1, List.of(), "m0");
		this.answers.put(0, new Answer.Alive(new Status(member(0), Phase.FORMING, TWO)));
		assertThat(withoutQuorum(TWO)).isEqualTo(TWO);
		assertThat(of(TWO, QuorumRule.LIVE).slots((_, fate) -> fate == Fate.FORMING)).containsExactly(0);
	}

	@Test
	void aSilentMemberCountsAndIsNamed() {
		join(TWO, 1, List.of());
		this.answers.put(2, REFUSED);
		assertThat(withoutQuorum(TWO)).isEqualTo(TWO);
		assertThat(of(TWO, QuorumRule.LIVE).silence(TWO)).containsExactly(0);
	}

	@Test
	void aMemberWhosePortRefusesLeavesTheCountOnlyIfEverySlotIsKnown() {
		join(TWO, 1, List.of());
		this.answers.put(0, REFUSED);
		this.ended.add(member(0));
		assertThat(withoutQuorum(TWO)).as("a later formation may run in slot 2").isEqualTo(TWO);
		assertThat(of(TWO, QuorumRule.LIVE).silence(TWO)).containsExactly(2);
		this.answers.put(2, REFUSED);
		assertThat(withoutQuorum(TWO)).isNull();
	}

	@Test
	void aRefusalElsewhereThanAtItsAddressIsNoEvidence() {
		join(TWO, 1, List.of());
		this.answers.put(0, REFUSED);
		this.answers.put(2, REFUSED);
		assertThat(withoutQuorum(TWO)).isEqualTo(TWO);
		assertThat(of(TWO, QuorumRule.LIVE).silence(TWO)).containsExactly(0);
	}

	@Test
	void aRefusalDoesNotShowTheEndOfAProcessThatJoins() {
		Formation base = formation(5, 1, 2);
		Formation later = formation(6, 0, 1, 2);
		join(base, 1, List.of(later), "m2");
		this.answers.put(0, REFUSED);
		this.answers.put(2, REFUSED);
		this.ended.add(member(2));
		assertThat(withoutQuorum(base)).isEqualTo(later);
		assertThat(of(base, QuorumRule.LIVE).silence(later)).containsExactly(0);
	}

	@Test
	void aMemberWhoseSlotHasANewProcessLeavesTheCountIfEverySlotIsKnown() {
		join(TWO, 1, List.of());
		this.joins.add(new Join(new Member(0, "new", "host"), null, List.of(), -1, List.of()));
		assertThat(withoutQuorum(TWO)).isEqualTo(TWO);
		assertThat(of(TWO, QuorumRule.LIVE).silence(TWO)).containsExactly(2);
		this.answers.put(2, REFUSED);
		assertThat(withoutQuorum(TWO)).isNull();
		assertThat(of(TWO, QuorumRule.LIVE).present()).containsExactly(0, 1);
	}

	@Test
	void aLaterFormationThatAMemberHasAcceptedNeedsAQuorumToo() {
		Formation later = formation(6, 0, 2);
		join(THREE, 1, List.of());
		join(THREE, 2, List.of(later));
		assertThat(withoutQuorum(THREE)).as("slot 0 may run the later one").isEqualTo(later);
		this.joins.clear();
		join(THREE, 1, List.of(), "m0");
		join(THREE, 2, List.of(later));
		assertThat(withoutQuorum(THREE)).as("slot 0 died in the base").isNull();
	}

	@Test
	void aLaterFormationNeedsNoQuorumIfNobodyElseInItHoldsTheState() {
		Formation alone = formation(5, 1);
		Formation withTwoThatJoin = formation(6, 0, 1, 2);
		join(alone, 1, List.of(withTwoThatJoin));
		this.answers.put(0, new Answer.Alive(new Status(member(0), Phase.FORMING, null)));
		assertThat(withoutQuorum(alone)).isNull();
		assertThat(of(alone, QuorumRule.STRICT).withoutQuorum()).isNull();
	}

	@Test
	void aLaterFormationWithoutMembersOfTheBaseNeedsAQuorum() {
		Formation alone = formation(5, 1);
		Formation later = formation(6, 0, 2);
		join(alone, 1, List.of());
		join(null, 2, List.of(later));
		assertThat(withoutQuorum(alone)).isEqualTo(later);
	}

	@Test
	void aFormationBeforeTheBaseNeedsNone() {
		join(THREE, 1, List.of());
		join(THREE, 2, List.of(formation(4, 0, 2)));
		assertThat(withoutQuorum(THREE)).isNull();
	}

	@Test
	void aMajorityContinuesAlthoughTheThirdIsSilent() {
		join(THREE, 1, List.of());
		join(THREE, 2, List.of());
		assertThat(withoutQuorum(THREE)).isNull();
		assertThat(of(THREE, QuorumRule.LIVE).slots((_, fate) -> fate == Fate.SILENT)).containsExactly(0);
	}

}
