package io.tutti.training;

import java.util.ArrayList;
import java.util.List;

import io.tutti.DataType;
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

	@Test
	void theFirstBucketIsSmall() {
		assertThat(BucketPlan.of(List.of(part(2, 10, DataType.FLOAT32, false), part(1, 10, DataType.FLOAT32, false),
				part(0, 30, DataType.FLOAT32, false)), 10, 40)
			.buckets()).containsExactly(List.of(2), List.of(1, 0));
	}

	@Test
	void aBucketHasOneTypeAndFollowsTheBucketsThatAreClosedBeforeIt() {
		assertThat(BucketPlan.of(List.of(part(5, 4, DataType.FLOAT32, false), part(4, 8, DataType.FLOAT64, false),
				part(3, 4, DataType.FLOAT32, false), part(2, 4, DataType.FLOAT32, false),
				part(1, 8, DataType.FLOAT64, false)), 8, 16)
			.buckets()).containsExactly(List.of(5, 3), List.of(2), List.of(4, 1));
	}

	@Test
	void lateGradientsShareNoBucketWithOthers() {
		assertThat(BucketPlan.of(List.of(part(2, 4, DataType.FLOAT32, false), part(0, 4, DataType.FLOAT32, false),
				part(1, 4, DataType.FLOAT32, true)), 100, 100)
			.buckets()).containsExactly(List.of(2, 0), List.of(1));
	}

	private static BucketPlan.Part part(int index, long bytes, DataType type, boolean late) {
		return new BucketPlan.Part(index, bytes, type, late);
	}

	private static List<List<Integer>> plan(long bucketBytes, long... parameterBytes) {
		List<BucketPlan.Part> parts = new ArrayList<>();
		for (int index = parameterBytes.length - 1; index >= 0; index--) {
			parts.add(new BucketPlan.Part(index, parameterBytes[index], DataType.FLOAT32, false));
		}
		return BucketPlan.of(parts, bucketBytes, bucketBytes).buckets();
	}

}
