package io.tutti.engine.elastic;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.ElasticEvent;
import io.tutti.ExitCode;
import io.tutti.GroupAbortedException;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(90)
class ElasticGroupTest {

	@Test
	void anUndisturbedJobRunsOnceInOneGeneration() throws Exception {
		for (var rank : new ElasticMembers(3, 3, 2).start(20)) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(210);
		}
	}

	@Test
	void itsTextNamesTheGenerationAndTheGroup() throws Exception {
		ElasticMembers members = new ElasticMembers(1, 1, 1);
		ElasticMembers.Rank only = members.new Rank(0, 2);
		AtomicReference<String> inTheLoop = new AtomicReference<>();
		only.atStep = () -> inTheLoop.set(only.group.toString());
		assertThat(only.group).hasToString("elastic group, not formed yet");
		only.start();
		only.result.get(60, TimeUnit.SECONDS);
		assertThat(inTheLoop.get())
			.matches("elastic group, generation \\d+: group world of 1 ranks, rank 0, ready, over tcp");
	}

	@Test
	void aRankThatStartsLaterJoinsAndReceivesTheState() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 3, 1);
		List<ElasticEvent> events = new CopyOnWriteArrayList<>();
		CountDownLatch joined = new CountDownLatch(1);
		ElasticMembers.Rank first = ranks.new Rank(0, 60);
		ElasticMembers.Rank second = ranks.new Rank(1, 60);
		ElasticMembers.Rank third = ranks.new Rank(2, 60);
		third.group.onEvent(events::add);
		third.atStep = joined::countDown;
		first.atStep = () -> {
			if (first.step == 30 && joined.getCount() > 0) {
				if (!third.result.isDone() && third.step == 0 && !ranksWait(first)) {
					third.start();
				}
				await(() -> ranksWait(first) || joined.getCount() == 0);
			}
		};
		first.start();
		second.start();
		for (var rank : List.of(first, second, third)) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(1830);
		}
		assertThat(events).anySatisfy(
				(event) -> assertThat(event).isInstanceOfSatisfying(ElasticEvent.Synchronized.class, (taken) -> {
					assertThat(taken.receivers()).containsExactly(2);
					assertThat(taken.step()).isEqualTo(31);
				}));
	}

	@Test
	void aGenerationWhoseReleaseFailsDoesNotEndTheJob() throws Exception {
		ElasticMembers ranks = new ElasticMembers(1, 2, 1);
		ElasticMembers.Rank first = ranks.new Rank(0, 20);
		ElasticMembers.Rank joining = ranks.new Rank(1, 20);
		first.atStep = () -> {
			if (first.step == 10 && first.group.group().worldSize() == 1) {
				first.group.group().onClose(() -> {
					throw new IllegalStateException("a resource is in use");
				});
				joining.start();
				await(() -> ranksWait(first));
			}
		};
		first.start();
		for (var rank : List.of(first, joining)) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(210);
		}
	}

	@Test
	void aRankThatLosesTheSourceOfItsStateDoesNotContinueWithout() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 3, 1);
		List<ElasticMembers.Rank> founders = List.of(ranks.new Rank(0, 60), ranks.new Rank(1, 60));
		ElasticMembers.Rank joining = ranks.new Rank(2, 60);
		founders.forEach((rank) -> rank.atSynchronize = rank::close);
		founders.getFirst().atStep = () -> {
			if (founders.getFirst().step == 30) {
				joining.start();
				await(() -> ranksWait(founders.getFirst()));
			}
		};
		founders.forEach(ElasticMembers.Rank::start);
		assertThatThrownBy(() -> joining.result.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(PeerLostException.class)
			.hasMessageContaining("the ranks that held the state were lost");
		assertThat(joining.step).isZero();
	}

	@Test
	void theRanksRepeatTheStepWhenTheOnlyRankThatIsAheadIsLostDuringTheTransfer() throws Exception {
		List<ElasticMembers.Rank> all = loseRankAhead(() -> {
		});
		assertThat(all.get(1).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		assertThat(all.get(1).step).isEqualTo(50);
	}

	@Test
	void aStateThatIsPartlyReplacedWhenItsSourceIsLostIsNotUsed() throws Exception {
		AtomicReference<ElasticMembers.Rank> receiver = new AtomicReference<>();
		List<ElasticMembers.Rank> all = loseRankAhead(() -> receiver.get().sum = 7, receiver);
		assertThatThrownBy(() -> all.get(1).result.get(60, TimeUnit.SECONDS))
			.hasCauseInstanceOf(PeerLostException.class)
			.hasMessageContaining("the ranks that held the state were lost");
	}

	private static List<ElasticMembers.Rank> loseRankAhead(Runnable atReceiver) throws Exception {
		return loseRankAhead(atReceiver, new AtomicReference<>());
	}

	/**
	 * Rank 2 is lost at the end of step 20, which rank 0 completes and rank 1 does not.
	 * Rank 0 is lost when it sends its state to rank 1, which has joined the next
	 * generation by then.
	 */
	private static List<ElasticMembers.Rank> loseRankAhead(Runnable atReceiver,
			AtomicReference<ElasticMembers.Rank> receiver) throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50), ranks.new Rank(2, 50));
		receiver.set(all.get(1));
		all.get(2).afterReduce = () -> {
			if (all.get(2).step == 19) {
				all.get(2).close();
			}
		};
		all.get(1).afterReduce = () -> {
			if (all.get(1).step == 19 && all.get(1).group.group().worldSize() == 3) {
				all.get(1).group.commit();
			}
		};
		CountDownLatch receiving = new CountDownLatch(1);
		all.get(0).atSynchronize = () -> {
			await(() -> receiving.getCount() == 0);
			all.get(0).close();
		};
		all.get(1).atSynchronize = () -> {
			receiving.countDown();
			atReceiver.run();
		};
		all.forEach(ElasticMembers.Rank::start);
		return all;
	}

	@Test
	void theRanksTakeTheStateThatMostOfThemHold() throws Exception {
		ElasticMembers ranks = new ElasticMembers(4, 4, 1);
		List<ElasticEvent> events = new CopyOnWriteArrayList<>();
		List<ElasticMembers.Rank> all = IntStream.range(0, 4).mapToObj((slot) -> ranks.new Rank(slot, 50)).toList();
		all.get(1).group.onEvent(events::add);
		all.get(0).atStep = () -> {
			if (all.get(0).step == 20) {
				all.get(0).sum = 7;
			}
		};
		all.get(3).atStep = () -> {
			if (all.get(3).step == 30) {
				all.get(3).close();
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all.subList(0, 3)) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		}
		assertThat(events).filteredOn(ElasticEvent.Synchronized.class::isInstance)
			.singleElement()
			.isInstanceOfSatisfying(ElasticEvent.Synchronized.class,
					(taken) -> assertThat(taken.receivers()).containsExactly(0));
		assertThat(ranks.warnings).anyMatch((warning) -> warning.contains("ranks [0]") && warning.contains("step 30"));
	}

	@Test
	void anInterruptThatEndsTheLoopStaysSet() throws Exception {
		try (ElasticMembers.Rank only = new ElasticMembers(1, 1, 1).new Rank(0, 1)) {
			assertThatThrownBy(() -> only.group.run(only, (_) -> {
				throw new InterruptedException("asked to end");
			})).hasMessageContaining("asked to end");
			assertThat(Thread.interrupted()).isTrue();
		}
	}

	@Test
	void theGroupsOfAnElasticJobSaySo() throws Exception {
		List<Boolean> elastic = new CopyOnWriteArrayList<>();
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 1), ranks.new Rank(1, 1));
		all.forEach((rank) -> rank.atStep = () -> {
			ProcessGroup group = rank.group.group();
			elastic.addAll(List.of(group.isElastic(), group.split(0, 0).isElastic()));
		});
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all) {
			rank.result.get(60, TimeUnit.SECONDS);
		}
		assertThat(elastic).containsExactly(true, true, true, true);
	}

	private static boolean ranksWait(ElasticMembers.Rank rank) {
		return rank.engine.joinersWait();
	}

	private static void await(BooleanSupplier condition) {
		Awaitility.await()
			.pollInterval(Duration.ofMillis(1))
			.atMost(Duration.ofSeconds(30))
			.until(condition::getAsBoolean);
	}

	@Test
	void theOthersContinueWhenARankLeaves() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 2);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50), ranks.new Rank(2, 50));
		ElasticMembers.Rank leaving = all.get(0);
		leaving.atStep = () -> {
			if (leaving.step == 20) {
				leaving.close();
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		assertThat(all.get(1).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		assertThat(all.get(2).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		assertThat(leaving.result).completesExceptionallyWithin(Duration.ofSeconds(60));
	}

	/** The rank that forms again has a call in the group of all ranks in flight. */
	@Test
	void allContinueWhenASubgroupWaitsForALateRank() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 3);
		List<ElasticMembers.Rank> all = IntStream.range(0, 3).mapToObj((slot) -> ranks.new Rank(slot, 20)).toList();
		for (var rank : all) {
			rank.atStep = () -> {
				ProcessGroup group = rank.group.group();
				ProcessGroup part = partOnce(rank);
				if (part == null) {
					return;
				}
				if (rank.slot == 1) {
					group.allReduceAsync(Arena.ofAuto().allocate(Long.BYTES, Long.BYTES), DataType.INT64, ReduceOp.MAX);
					part.withTimeout(Duration.ofMillis(500)).barrier();
				}
				if (rank.slot == 2) {
					await(() -> group.failure() != null);
				}
			};
		}
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(210);
			assertThat(rank.group.generation()).isOne();
		}
	}

	/** Of ranks 1 and 2, at step 10 of the first generation; {@code null} at others. */
	private static @Nullable ProcessGroup partOnce(ElasticMembers.Rank rank) {
		ProcessGroup group = rank.group.group();
		return (rank.step == 10 && group.generation() == 0) ? group.split((rank.slot == 0) ? 0 : 1, 0) : null;
	}

	@Test
	void anAbortOfASubgroupOnRequestEndsItsRanksAlsoIfTheGroupOfAllBreaksMeanwhile() throws Exception {
		requireEndOfSubgroup(GroupAbortedException.class, 42, (part) -> part.abort(42, "the data is bad"));
	}

	@Test
	void aMismatchInASubgroupEndsItsRanksAlsoIfTheGroupOfAllBreaksMeanwhile() throws Exception {
		requireEndOfSubgroup(CollectiveMismatchException.class, ExitCode.MISMATCH,
				(part) -> part.allReduce(new long[1], ReduceOp.MAX));
	}

	/** Rank 2 ends with its failure after rank 1 has left because of it. */
	private static void requireEndOfSubgroup(Class<? extends CollectiveException> type, int exitCode,
			Consumer<ProcessGroup> breaking) throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<ElasticMembers.Rank> all = IntStream.range(0, 3).mapToObj((slot) -> ranks.new Rank(slot, 20)).toList();
		for (var rank : all) {
			rank.atStep = () -> {
				ProcessGroup group = rank.group.group();
				ProcessGroup part = partOnce(rank);
				if (part == null) {
					return;
				}
				if (rank.slot == 1) {
					breaking.accept(part);
				}
				try {
					if (rank.slot > 0) {
						part.barrier();
					}
				}
				finally {
					if (rank.slot == 2) {
						await(() -> group.failure() != null);
					}
				}
			};
		}
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all.subList(1, 3)) {
			assertThatThrownBy(() -> rank.result.get(60, TimeUnit.SECONDS)).cause()
				.isInstanceOfSatisfying(type, (ex) -> assertThat(ex.exitCode()).isEqualTo(exitCode));
		}
		assertThat(all.getFirst().result.get(60, TimeUnit.SECONDS)).isEqualTo(210);
	}

	@Test
	void aLossIsReportedOnceAlsoIfThisRankEndsWithIt() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<ElasticMembers.Rank> all = IntStream.range(0, 3).mapToObj((slot) -> ranks.new Rank(slot, 50)).toList();
		List<ElasticEvent> ofEnding = new CopyOnWriteArrayList<>();
		List<ElasticEvent> ofOther = new CopyOnWriteArrayList<>();
		all.get(1).group.onEvent(ofEnding::add);
		all.get(0).group.onEvent(ofOther::add);
		all.get(2).atStep = () -> {
			if (all.get(2).step == 20) {
				all.get(2).close();
			}
		};
		all.get(1).atRollback = () -> {
			throw new IllegalStateException("the old state is gone");
		};
		all.forEach(ElasticMembers.Rank::start);
		assertThat(all.get(0).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		assertThatThrownBy(() -> all.get(1).result.get(60, TimeUnit.SECONDS))
			.hasMessageContaining("the old state is gone");
		assertThat(ofEnding).filteredOn(ElasticEvent.Lost.class::isInstance)
			.singleElement()
			.isInstanceOfSatisfying(ElasticEvent.Lost.class, (lost) -> assertThat(lost.slots()).containsExactly(2));
		assertThat(ofOther)
			.filteredOn((event) -> event instanceof ElasticEvent.Lost lost && lost.generation() == 0
					&& lost.slots().equals(List.of(2)))
			.hasSize(1);
	}

	@Test
	void theOthersContinueWhenTheLoopOfTheFirstRankHasEndedAndItsGroupIsNotClosed() throws Exception {
		ElasticMembers ranks = new ElasticMembers(4, 4, 1, Duration.ofSeconds(20));
		List<ElasticMembers.Rank> all = IntStream.range(0, 4).mapToObj((slot) -> ranks.new Rank(slot, 50)).toList();
		ElasticMembers.Rank failing = all.getFirst();
		failing.closes = false;
		failing.group.onEvent((event) -> {
			if (event instanceof ElasticEvent.Lost) {
				throw new IllegalStateException("this rank only");
			}
		});
		ElasticMembers.Rank leaving = all.getLast();
		leaving.atStep = () -> {
			if (leaving.step == 20) {
				leaving.close();
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		try (failing) {
			assertThat(all.get(1).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
			assertThat(all.get(2).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
			assertThatThrownBy(failing.result::join).hasMessageContaining("this rank only");
		}
	}

	/** So that a job that is stopped can save its state. */
	@Test
	void aRankThatIsLostAfterAllLoopsHaveReturnedIsNamedAndTheOthersSucceed() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 20), ranks.new Rank(1, 20), ranks.new Rank(2, 20));
		ElasticMembers.Rank lost = all.getLast();
		lost.atReturn = () -> {
			// The barrier before the last one.
			lost.group.group().barrier();
			lost.close();
		};
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all.subList(0, 2)) {
			assertThat(rank.result.get(60, TimeUnit.SECONDS)).isEqualTo(210);
		}
		assertThat(ranks.warnings).filteredOn((warning) -> warning.contains("after all loops"))
			.containsExactly("rank 2 was lost after all loops had returned: the result is complete",
					"rank 2 was lost after all loops had returned: the result is complete");
	}

	@Test
	void fewerRanksThanTheMinimumFormOnceTheJobIsToEnd() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 2);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50));
		ElasticMembers.Rank leaving = all.get(0);
		leaving.atStep = () -> {
			if (leaving.step == 20) {
				leaving.close();
			}
		};
		ElasticMembers.Rank left = all.get(1);
		CountDownLatch waits = new CountDownLatch(1);
		left.group.onEvent((event) -> {
			if (event instanceof ElasticEvent.Awaiting(var slots) && slots.equals(List.of(0)) && left.step > 0) {
				waits.countDown();
			}
		});
		all.forEach(ElasticMembers.Rank::start);
		assertThat(waits.await(60, TimeUnit.SECONDS)).isTrue();
		assertThat(left.result).isNotDone();
		left.engine.end();
		assertThat(left.result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
	}

	@Test
	void anExceptionOfOneLoopEndsTheJobOnEveryRank() throws Exception {
		requireEndOfEveryRank(IllegalArgumentException.class, () -> {
			throw new IllegalArgumentException("the data is bad");
		});
	}

	@Test
	void anErrorOfOneLoopEndsTheJobOnEveryRank() throws Exception {
		requireEndOfEveryRank(AssertionError.class, () -> {
			throw new AssertionError("the data is bad");
		});
	}

	private static void requireEndOfEveryRank(Class<? extends Throwable> cause, Runnable failing) throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50));
		all.get(1).atStep = () -> {
			if (all.get(1).step == 5) {
				failing.run();
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		assertThatThrownBy(() -> all.get(1).result.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(cause);
		assertThatThrownBy(() -> all.get(0).result.get(60, TimeUnit.SECONDS))
			.hasCauseInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("the data is bad");
	}

	@Test
	void aRankThatSkipsAStepIsNamed() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50), ranks.new Rank(2, 50));
		all.get(2).atStep = () -> {
			if (all.get(2).step == 5) {
				all.get(2).step++;
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		for (var rank : all) {
			assertThatThrownBy(() -> rank.result.get(60, TimeUnit.SECONDS))
				.hasCauseInstanceOf(CollectiveMismatchException.class)
				.hasMessageContaining("rank 0 commits step 6, rank 2 commits step 7");
		}
	}

	@Test
	void aRankThatReturnsEarlyIsToldWhatTheOthersExpect() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 30));
		all.forEach(ElasticMembers.Rank::start);
		assertThatThrownBy(() -> all.get(0).result.get(60, TimeUnit.SECONDS))
			.hasCauseInstanceOf(CollectiveMismatchException.class);
		assertThatThrownBy(() -> all.get(1).result.get(60, TimeUnit.SECONDS))
			.hasCauseInstanceOf(CollectiveMismatchException.class)
			.hasMessageContaining(
					"rank 1 has returned from its loop, other ranks do not: every rank must run the same");
	}

	@Test
	void aBackendThatCannotContinueIsRefusedWithTheCodeOfAWrongConfiguration() throws Exception {
		EngineSettings settings = new ElasticMembers(1, 1, 1).settings();
		for (EngineSettings refused : List.of(settings.withBackend(Backends.NCCL, null),
				settings.withBackend(Backends.MPI, "openmpi"))) {
			assertThatThrownBy(() -> ElasticSettings.requireSupported(refused))
				.isInstanceOfSatisfying(BackendUnavailableException.class,
						(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
				.hasMessageContaining("tutti.elastic.min-ranks");
		}
	}

	/** Repeated, since rank 1 may ask rank 0 before or after its endpoint has closed. */
	@RepeatedTest(5)
	void theGroupOfABrokenGenerationStaysBroken() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<ElasticMembers.Rank> all = List.of(ranks.new Rank(0, 50), ranks.new Rank(1, 50));
		AtomicReference<ProcessGroup> first = new AtomicReference<>();
		all.get(1).atStep = () -> first.compareAndSet(null, all.get(1).group.group());
		all.get(0).atStep = () -> {
			if (all.get(0).step == 20) {
				all.get(0).close();
			}
		};
		all.forEach(ElasticMembers.Rank::start);
		assertThat(all.get(1).result.get(60, TimeUnit.SECONDS)).isEqualTo(1275);
		assertThat(first.get().failure()).isNotNull();
		assertThatThrownBy(() -> first.get().barrier()).isInstanceOf(RuntimeException.class);
	}

}
