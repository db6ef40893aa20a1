package io.tutti.engine.backend.nccl;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallReport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reports of a rank's device calls to rank 0.
 */
@Timeout(60)
class CallReportsTest {

	private static final AtomicInteger GROUPS = new AtomicInteger();

	private final String group = "part-" + GROUPS.incrementAndGet();

	private final List<List<CallReport>> batches = new CopyOnWriteArrayList<>();

	private final CallReports reports = new CallReports(this.group, 3, new FailureReporter() {
		@Override
		public void report(Failure failure) {
			throw new AssertionError(failure);
		}

		@Override
		public void reportCalls(List<CallReport> together) {
			CallReportsTest.this.batches.add(together);
		}
	});

	private final Call whole = Call.forParts(2);

	@Test
	void everyCallIsReportedOnceInOrderAndInBatches() {
		for (int count = 0; count < 10_000; count++) {
			this.reports.begun(call(count));
		}
		Awaitility.await().until(() -> counts().size() == 10_000);
		assertThat(counts()).isSorted().doesNotHaveDuplicates();
		assertThat(this.batches).hasSizeLessThan(1_000)
			.allSatisfy((batch) -> assertThat(batch).hasSizeBetween(1, CallReports.CAPACITY));
		assertThat(this.batches.getFirst().getFirst().group()).isEqualTo(this.group);
	}

	@Test
	void oneThreadRunsWhileThereAreCallsAndThenEnds() throws Exception {
		assertThat(threads()).isZero();
		List<Thread> callers = new CopyOnWriteArrayList<>();
		for (int caller = 0; caller < 4; caller++) {
			callers.add(Thread.ofPlatform().start(() -> {
				for (int count = 0; count < 50; count++) {
					this.reports.begun(Call.forParts(2).partOf(this.whole, Collective.ALL_REDUCE, count, 0));
				}
			}));
		}
		for (Thread caller : callers) {
			caller.join(TimeUnit.SECONDS.toMillis(20));
		}
		assertThat(threads()).isLessThanOrEqualTo(1);
		Awaitility.await().until(() -> threads() == 0 && counts().size() == 200);
		this.reports.begun(call(7));
		Awaitility.await().until(() -> threads() == 0 && counts().size() == 201);
	}

	@Test
	void aCloseReportsTheRemainingCallsAndNoLaterOnes() {
		this.reports.begun(call(1));
		this.reports.close();
		this.reports.begun(call(2));
		this.reports.close();
		assertThat(counts()).containsExactly(1L);
		Awaitility.await().until(() -> threads() == 0);
		assertThat(counts()).containsExactly(1L);
	}

	private Call call(long count) {
		return Call.forParts(2).partOf(this.whole, Collective.ALL_REDUCE, count, 0);
	}

	private List<Long> counts() {
		return this.batches.stream().flatMap(List::stream).map((report) -> report.call().count()).toList();
	}

	private long threads() {
		String name = "tutti-r3-" + this.group + "-nccl-reports";
		return Thread.getAllStackTraces().keySet().stream().filter((thread) -> thread.getName().equals(name)).count();
	}

}
