package io.tutti.engine.failure;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DepartedRanksTest {

	private final DepartedRanks departed = new DepartedRanks();

	/** Another rank may tell of a departure before rank 0 does, without the number. */
	@Test
	void theNumberOfTheLastCompletedCallMayFollow() {
		this.departed.add(2, DepartedRanks.NONE_COMPLETED);
		assertThat(this.departed.missingFrom(0)).isEqualTo(2);
		this.departed.add(2, 7);
		assertThat(this.departed.hasCompleted(2, 7)).isTrue();
		assertThat(this.departed.missingFrom(7)).isEqualTo(-1);
		assertThat(this.departed.missingFrom(8)).isEqualTo(2);
		assertThat(this.departed.describe(2)).endsWith("completed there is #7");
	}

	@Test
	void theNumberOfTheLastCompletedCallStays() {
		this.departed.add(2, 7);
		this.departed.add(2, DepartedRanks.NONE_COMPLETED);
		assertThat(this.departed.missingFrom(7)).isEqualTo(-1);
	}

}
