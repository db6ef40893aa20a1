package io.tutti.engine.algorithm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.tutti.Collective;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class AlgorithmTableTest {

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 4, 5, 64, 16_384 })
	void everyCallHasAnOfferedAlgorithm(int worldSize) {
		for (Collective collective : Collective.values()) {
			List<AlgorithmRule> rules = AlgorithmTable.rules(collective, worldSize);
			assertThat(rules).isNotEmpty();
			assertThat(rules.getLast().maxBytes()).isEqualTo(Long.MAX_VALUE);
			assertThat(AlgorithmName.offered(collective))
				.containsAll(rules.stream().map(AlgorithmRule::algorithm).toList());
		}
	}

	/** An unreachable row is a mistake. */
	@ParameterizedTest
	@EnumSource
	void noRowIsHiddenByAnEarlierRow(Collective collective) {
		List<AlgorithmRule> rules = AlgorithmTable.RULES.stream()
			.filter((rule) -> rule.collective() == collective)
			.toList();
		for (int later = 0; later < rules.size(); later++) {
			for (int earlier = 0; earlier < later; earlier++) {
				assertThat(hides(rules.get(earlier), rules.get(later)))
					.as("%s hides %s", rules.get(earlier), rules.get(later))
					.isFalse();
			}
		}
	}

	private static boolean hides(AlgorithmRule earlier, AlgorithmRule later) {
		return earlier.maxWorldSize() >= later.maxWorldSize() && earlier.maxBytes() >= later.maxBytes();
	}

	@ParameterizedTest
	@EnumSource
	void theDocumentationContainsTheTable(Collective collective) throws IOException {
		String documentation = Files.readString(Path.of("src/docs/algorithms.md"));
		List<String> lines = AlgorithmTable.RULES.stream()
			.filter((rule) -> rule.collective() == collective)
			.map(AlgorithmTableTest::documented)
			.toList();
		assertThat(documentation).contains(String.join("\n", lines));
	}

	private static String documented(AlgorithmRule rule) {
		return "| %s | %s | %s | %s |".formatted(rule.collective(),
				(rule.maxWorldSize() == Integer.MAX_VALUE) ? "any" : rule.maxWorldSize(), size(rule.maxBytes()),
				rule.algorithm());
	}

	private static String size(long bytes) {
		if (bytes == Long.MAX_VALUE) {
			return "any";
		}
		return (bytes % (1 << 20) == 0) ? (bytes >> 20) + " MiB" : (bytes >> 10) + " KiB";
	}

}
