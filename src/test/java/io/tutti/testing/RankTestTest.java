package io.tutti.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

import io.tutti.DataType;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.instanceOf;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

@Timeout(60)
class RankTestTest {

	@RankTest(worldSize = 4)
	void everyRankHoldsTheSum(ProcessGroup group) {
		requireSum(group, 4);
	}

	@RankTest(worldSize = 3, transport = RankTransport.TCP)
	void everyRankHoldsTheSumOverTcp(ProcessGroup group) {
		assertThat(group.transport()).isEqualTo("tcp");
		requireSum(group, 3);
	}

	@RankTest
	void otherParametersAreSharedByTheRanks(TestInfo info, ProcessGroup group, @TempDir Path folder) {
		assertThat(folder).isDirectory();
		assertThat(info.getDisplayName()).startsWith("otherParametersAreShared");
		assertThat(group.worldSize()).isEqualTo(2);
	}

	@Test
	void aFailedRankIsNamedAndTheOthersDoNotWaitForIt() {
		long start = System.nanoTime();
		run("oneRankFails").assertThatEvents()
			.haveExactly(1, finishedWithFailure(instanceOf(AssertionError.class),
					message((text) -> text.startsWith("rank 2 of 4: ") && text.contains("not what was expected"))));
		assertThat(System.nanoTime() - start).isLessThan(20_000_000_000L);
	}

	@Test
	void everyRankWithItsOwnFailureIsNamed() {
		run("everyRankFails").assertThatEvents()
			.haveExactly(1, finishedWithFailure(message((text) -> text.matches("(?s)rank \\d of 2.*"))));
	}

	@Test
	void aRankThatHangsIsNamedAtTheTimeLimit() {
		run("oneRankHangs").assertThatEvents()
			.haveExactly(1, finishedWithFailure(message((text) -> text.contains("timed out") && text.contains("[1]"))));
	}

	@Test
	void aRankThatOmitsACollectiveIsNamedByTheOthers() {
		run("oneRankCallsNothing").assertThatEvents()
			.haveExactly(1, finishedWithFailure(message((text) -> text.contains("rank 1"))));
	}

	@Test
	void aFailedAssumptionSkipsTheTest() {
		run("violatesAnAssumption").assertStatistics((numbers) -> numbers.aborted(1).failed(0));
	}

	@Test
	void aFailedAssumptionDoesNotHideTheFailureOfAnotherRank() {
		run("oneRankFailsAfterAnAssumption").assertThatEvents()
			.haveExactly(1, finishedWithFailure(instanceOf(AssertionError.class),
					message((text) -> text.startsWith("rank 1 of 2: ") && text.contains("not what was expected"))));
	}

	@Test
	void aFailedAssumptionDoesNotHideARankThatHangs() {
		run("oneRankHangsAfterAnAssumption").assertThatEvents()
			.haveExactly(1, finishedWithFailure(message((text) -> text.contains("timed out") && text.contains("[1]"))));
	}

	@Test
	void aFailedAssumptionOfOneRankSkipsTheTestAlsoForARankThatWaitsForIt() {
		run("oneRankViolatesAnAssumption").assertStatistics((numbers) -> numbers.aborted(1).failed(0));
	}

	@ParameterizedTest
	@ValueSource(strings = { "noRanks", "noTime" })
	void invalidSettingsAreRejected(String method) {
		run(method).assertThatEvents()
			.haveExactly(1, finishedWithFailure(message((text) -> text.contains("at least 1"))));
	}

	@Test
	void anOrdinaryTestGetsNoGroup() {
		assertThatThrownBy(() -> run("notOnRanks").assertStatistics((numbers) -> numbers.succeeded(1)))
			.isInstanceOf(AssertionError.class);
	}

	private static Events run(String method) {
		return EngineTestKit.engine("junit-jupiter")
			.configurationParameter("junit.jupiter.conditions.deactivate", "*")
			.selectors(selectMethod(Wrong.class,
					java.util.Arrays.stream(Wrong.class.getDeclaredMethods())
						.filter((candidate) -> candidate.getName().equals(method))
						.findFirst()
						.orElseThrow()))
			.execute()
			.testEvents();
	}

	private static void requireSum(ProcessGroup group, int worldSize) {
		MemorySegment value = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_INT, group.rank() + 1);
		group.allReduce(value, DataType.INT32, ReduceOp.SUM);
		assertThat(value.get(ValueLayout.JAVA_INT, 0)).isEqualTo(worldSize * (worldSize + 1) / 2);
	}

	/** Failing tests that only the tests above run. */
	@org.junit.jupiter.api.Disabled("run by RankTestTest alone")
	static class Wrong {

		@RankTest(worldSize = 4)
		void oneRankFails(ProcessGroup group) {
			if (group.rank() == 2) {
				throw new AssertionError("not what was expected");
			}
			group.barrier();
		}

		@RankTest
		void everyRankFails(ProcessGroup group) {
			group.barrier();
			assertThat(group.rank()).isEqualTo(17);
		}

		@RankTest(timeoutSeconds = 1)
		void oneRankHangs(ProcessGroup group) throws InterruptedException {
			if (group.rank() == 1) {
				new CountDownLatch(1).await();
			}
		}

		@RankTest(timeoutSeconds = 2)
		void oneRankCallsNothing(ProcessGroup group) {
			if (group.rank() == 0) {
				group.barrier();
			}
		}

		@RankTest
		void violatesAnAssumption(ProcessGroup group) {
			Assumptions.assumeTrue(group.rank() == 17);
		}

		@RankTest
		void oneRankFailsAfterAnAssumption(ProcessGroup group) {
			Assumptions.assumeTrue(group.rank() == 1);
			try {
				group.barrier();
			}
			catch (GroupAbortedException ex) {
				throw new AssertionError("not what was expected", ex);
			}
		}

		@RankTest(worldSize = 3, timeoutSeconds = 1)
		void oneRankHangsAfterAnAssumption(ProcessGroup group) throws InterruptedException {
			Assumptions.assumeTrue(group.rank() != 0);
			if (group.rank() == 1) {
				new CountDownLatch(1).await();
			}
			group.barrier();
		}

		@RankTest
		void oneRankViolatesAnAssumption(ProcessGroup group) {
			Assumptions.assumeTrue(group.rank() == 1);
			group.barrier();
		}

		@RankTest(worldSize = 0)
		void noRanks(ProcessGroup group) {
			group.barrier();
		}

		@RankTest(timeoutSeconds = 0)
		void noTime(ProcessGroup group) {
			group.barrier();
		}

		@Test
		void notOnRanks(ProcessGroup group) {
			group.barrier();
		}

	}

}
