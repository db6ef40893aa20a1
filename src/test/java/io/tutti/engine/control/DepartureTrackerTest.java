package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.Departed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class DepartureTrackerTest {

	private static final Departure SIDE = new Departure(1, "side", 5);

	private final PeerTable peers = new PeerTable(4, () -> this.now);

	private final Map<Integer, List<Departure>> sent = new TreeMap<>();

	private long now = Long.MAX_VALUE - 1;

	private final DepartureTracker tracker = new DepartureTracker(this.peers, () -> this.now,
			new NoticeRecorder((rank, notice) -> this.sent.computeIfAbsent(rank, (key) -> new ArrayList<>())
				.addAll(((Departed) notice).departures())));

	@Test
	void theOtherMembersAreInformedAfterTheDelay() {
		this.tracker.left(SIDE, List.of(0, 1, 3));
		this.tracker.tick();
		assertThat(this.sent).isEmpty();
		assertThat(this.tracker.nanosUntilDue()).isEqualTo(DepartureTracker.COLLECTING.toNanos());
		pass(DepartureTracker.COLLECTING);
		assertThat(this.sent).isEqualTo(Map.of(0, List.of(SIDE), 3, List.of(SIDE)));
		assertThat(this.tracker.nanosUntilDue()).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void noRankIsInformedOfAGroupThatAllRanksHaveLeft() {
		for (int rank : new int[] { 3, 0, 1 }) {
			this.tracker.left(new Departure(rank, "side", 5), List.of(0, 1, 3));
			assertThat(this.tracker.from("side").contains(rank)).isTrue();
		}
		pass(DepartureTracker.COLLECTING);
		assertThat(this.sent).isEmpty();
		assertThat(this.tracker.from("side").contains(1)).isFalse();
	}

	@Test
	void aLostRankIsNotInformedAndKeepsNoGroup() {
		this.peers.gone(0, PeerStatus.State.LOST);
		this.tracker.left(SIDE, List.of(0, 1));
		pass(DepartureTracker.COLLECTING);
		assertThat(this.sent).isEmpty();
		assertThat(this.tracker.from("side").contains(1)).isFalse();
	}

	@Test
	void theWorldGroupNeedsNoMembers() {
		Departure world = new Departure(2, Failure.WORLD, -1);
		this.tracker.left(world, List.of());
		this.tracker.flush();
		assertThat(this.sent).isEqualTo(Map.of(0, List.of(world), 1, List.of(world), 3, List.of(world)));
	}

	@Test
	void departuresAreSentInOrder() {
		this.tracker.left(SIDE, List.of(0, 1));
		this.peers.gone(1, PeerStatus.State.LEFT);
		this.tracker.left(1);
		this.tracker.flush();
		assertThat(this.sent.get(0)).containsExactly(SIDE, Departure.fromEveryGroup(1));
		assertThat(this.sent.get(2)).containsExactly(Departure.fromEveryGroup(1));
	}

	@Test
	void onlyTheFirstDepartureCountsAndMembersOutOfRangeAreIgnored() {
		this.tracker.left(SIDE, List.of(-1, 0, 1, 99));
		this.tracker.left(new Departure(1, "side", 9), List.of(0, 1));
		this.tracker.flush();
		assertThat(this.sent).isEqualTo(Map.of(0, List.of(SIDE)));
	}

	private void pass(Duration time) {
		this.now += time.toNanos();
		this.tracker.tick();
	}

}
