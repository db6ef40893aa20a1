package io.tutti.engine.elastic;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class QuorumTest {

	@ParameterizedTest
	@EnumSource(QuorumRule.class)
	void twoSidesOfAPartitionNeverBothContinueWhateverEachKnowsOfTheDead(QuorumRule rule) {
		for (int members = 2; members <= 5; members++) {
			List<Integer> all = IntStream.range(0, members).boxed().toList();
			int ways = (int) Math.pow(3, members);
			for (int way = 0; way < ways; way++) {
				List<Integer> left = of(way, 0, members);
				List<Integer> right = of(way, 1, members);
				List<Integer> dead = of(way, 2, members);
				for (List<Integer> knownLeft : subsets(dead)) {
					for (List<Integer> knownRight : subsets(dead)) {
						boolean both = Quorum.continues(all, left, knownLeft, rule)
								&& Quorum.continues(all, right, knownRight, rule);
						assertThat(both).as("%s | %s, dead %s, known %s | %s", left, right, dead, knownLeft, knownRight)
							.isFalse();
					}
				}
			}
		}
	}

	@Test
	void oneOfTwoRanksContinuesAfterAKillAndNotAfterAPartition() {
		assertThat(Quorum.continues(List.of(0, 1), List.of(1), List.of(0), QuorumRule.LIVE)).isTrue();
		assertThat(Quorum.continues(List.of(0, 1), List.of(1), List.of(), QuorumRule.LIVE)).isFalse();
		assertThat(Quorum.continues(List.of(0, 1), List.of(0), List.of(), QuorumRule.LIVE)).isTrue();
		assertThat(Quorum.continues(List.of(0, 1), List.of(1), List.of(0), QuorumRule.STRICT)).isFalse();
	}

	@Test
	void theSideWithoutMembersNeverContinues() {
		assertThat(Quorum.continues(List.of(0, 1), List.of(7), List.of(0, 1), QuorumRule.LIVE)).isFalse();
	}

	@Test
	void oneOfTheSidesContinuesIfAllDeadAreKnownAndThereAreTwoSides() {
		List<Integer> all = List.of(0, 1, 2, 3, 4);
		for (int way = 0; way < 243; way++) {
			List<Integer> left = of(way, 0, 5);
			List<Integer> right = of(way, 1, 5);
			List<Integer> dead = of(way, 2, 5);
			if (dead.size() < 5) {
				assertThat(Quorum.continues(all, left, dead, QuorumRule.LIVE)
						^ Quorum.continues(all, right, dead, QuorumRule.LIVE))
					.as("%s | %s", left, right)
					.isTrue();
			}
		}
	}

	/** The members whose digit of the number in base 3 has a value. */
	private static List<Integer> of(int way, int digit, int members) {
		return IntStream.range(0, members)
			.filter((slot) -> way / (int) Math.pow(3, slot) % 3 == digit)
			.boxed()
			.toList();
	}

	private static List<List<Integer>> subsets(List<Integer> of) {
		List<List<Integer>> all = new ArrayList<>();
		for (int bits = 0; bits < 1 << of.size(); bits++) {
			int chosen = bits;
			all.add(IntStream.range(0, of.size()).filter((i) -> (chosen >> i & 1) == 1).mapToObj(of::get).toList());
		}
		return all;
	}

}
