package io.tutti.benchmark;

import java.util.OptionalDouble;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class CoreDistancesTest {

	private final CoreDistances distances = new CoreDistances();

	@Test
	void runsOfOneStateCauseNoWarning() {
		assertThat(this.distances.note()).isNull();
		add("tutti", 40, 79);
		add("gloo", 79, 80);
		assertThat(this.distances.note()).isNull();
	}

	@Test
	void aRunBeforeOrAfterWhichTheCoresWereFarApartIsCounted() {
		add("tutti", 120, 121);
		add("gloo", 121, 390);
		add("tutti", 390, 380);
		add("gloo", 380, 119);
		add("tutti", 119, 130);
		assertThat(this.distances.note()).startsWith("a cache line took 119 to 390 ns between the cores")
			.contains("in 3 of 5 runs");
	}

	@Test
	void theRunsOfEachSystemAreListedInTheirOrder() {
		add("tutti", 41.2, 42);
		add("gloo", 42, 41);
		add("tutti", 41, 120);
		assertThat(this.distances.text()).isEqualTo("tutti 41-42 41-120, gloo 42-41");
		assertThat(this.distances.json()).isEqualTo("\"tutti\":[[41.2,42.0],[41.0,120.0]],\"gloo\":[[42.0,41.0]]");
	}

	@Test
	void aRunWithoutAValueIsLeftOut() {
		this.distances.add("tutti", OptionalDouble.empty(), OptionalDouble.of(1));
		this.distances.add("tutti", OptionalDouble.of(100), OptionalDouble.empty());
		assertThat(this.distances.text()).isEmpty();
		assertThat(this.distances.json()).isEmpty();
		assertThat(this.distances.note()).isNull();
	}

	private void add(String system, double before, double after) {
		this.distances.add(system, OptionalDouble.of(before), OptionalDouble.of(after));
	}

}
