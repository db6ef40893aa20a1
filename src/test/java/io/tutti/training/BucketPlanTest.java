package io.tutti.training;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class BucketPlanTest {

	@Test
	void bucketsAreFilledFromTheLastParameterToTheFirst() {
		assertThat(plan(100, 40, 30, 30, 50, 50)).containsExactly(List.of(4, 3), List.of(2, 1, 0));
	}

	@Test
	void aBucketIsClosedBeforeItWouldExceedItsSize() {
		assertThat(plan(99, 40, 30, 30, 50, 50)).containsExactly(List.of(4), List.of(3, 2), List.of(1, 0));
	}

	@Test
	void aParameterLargerThanABucketGetsItsOwnBucket() {
		assertThat(plan(10, 4, 1000, 4)).containsExactly(List.of(2), List.of(1), List.of(0));
	}

	@Test
	void allParametersFitIntoOneLargeBucket() {
		assertThat(plan(DataParallelSettings.DEFAULT_BUCKET_BYTES, 4, 8, 4)).containsExactly(List.of(2, 1, 0));
	}

	private static List<List<Integer>> plan(long bucketBytes, long... parameterBytes) {
		return BucketPlan.of(Arrays.stream(parameterBytes).boxed().toList(), bucketBytes).buckets();
	}

}
