package io.tutti.engine.transport.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.engine.Timeouts;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.CallContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The call slots of two ranks in one thread, so that the test controls the order of
 * steps.
 */
@Timeout(60)
class CallSlotsTest {

	@TempDir
	private Path directory;

	private final Arena arena = Arena.ofShared();

	private final List<Member> members = new ArrayList<>();

	/** One rank: its calls only enter and post. */
	private final class Member implements GroupBackend, WaitPolicy {

		private final HostMemory memory;

		private final CallContext frame;

		private final CallSlots board;

		private final DefaultProcessGroup group;

		/** Actions to run each time this rank has to wait. */
		private final Deque<Runnable> meanwhile = new ArrayDeque<>();

		private int moves;

		Member(HostMemory memory) {
			GroupIdentity identity = GroupIdentity.world(memory.self(), 2, 0);
			FailureLatch latch = new FailureLatch();
			this.memory = memory;
			this.frame = new CallContext(identity, latch, CallSlotsTest.this.arena);
			this.board = new CallSlots(memory, this.frame, new Doorbell(memory, null), this);
			this.group = new DefaultProcessGroup(identity, this, latch, latch::trip, Timeouts.DEFAULTS);
		}

		@Override
		public String transport() {
			return ShmTransport.NAME;
		}

		@Override
		public String name() {
			return "board";
		}

		@Override
		public void run(Call call) {
			this.frame.begin(call);
			this.board.begin();
			this.board.post();
		}

		@Override
		public void stalled() {
			this.meanwhile.remove().run();
		}

		@Override
		public void moved() {
			this.moves++;
		}

		@Override
		public void check() {
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
			this.memory.close();
		}

	}

	@BeforeEach
	void shareMemory() throws Exception {
		HostPair.memories(new SharedMemorySettings(this.directory, "slots"))
			.forEach((memory) -> this.members.add(new Member(memory)));
	}

	@AfterEach
	void close() {
		this.members.forEach((member) -> member.group.close());
		this.arena.close();
	}

	@Test
	void aRankHasArrivedWhenItHasPosted() {
		Member zero = this.members.get(0);
		Member one = this.members.get(1);
		zero.group.barrier();
		assertThat(zero.board.arrived(1)).isFalse();
		one.group.barrier();
		assertThat(zero.board.arrived(1)).isTrue();
		assertThat(one.board.arrived(0)).isTrue();
	}

	/** A rank that has slept takes its sleep flag back. */
	@Test
	void aWaitForOneRankEndsWithAMove() {
		Member zero = this.members.get(0);
		zero.group.barrier();
		int before = zero.moves;
		zero.meanwhile.add(this.members.get(1).group::barrier);
		zero.board.await(1);
		assertThat(zero.meanwhile).isEmpty();
		assertThat(zero.moves).isEqualTo(before + 1);
	}

	@Test
	void aRankAheadWaitsForItsSlotAndReportsNoMismatch() {
		Member ahead = this.members.get(1);
		Member behind = this.members.get(0);
		for (int round = 1; round < HostLayout.SLOTS; round++) {
			ahead.group.barrier();
		}
		ahead.meanwhile.add(() -> assertThat(ahead.board.arrived(0)).isFalse());
		ahead.meanwhile.add(() -> {
			for (int round = 1; round <= HostLayout.SLOTS; round++) {
				behind.group.barrier();
			}
			assertThat(ahead.board.arrived(0)).as("looked for before it has posted itself").isTrue();
		});
		ahead.group.barrier();
		assertThat(ahead.meanwhile).isEmpty();
		assertThat(behind.board.arrived(1)).isTrue();
	}

	@Test
	void aMismatchNamesBothCalls() {
		this.members.get(0).group.barrier();
		this.members.get(1).group.broadcast(MemorySegment.ofArray(new int[3]), DataType.INT32, 1);
		assertThatThrownBy(() -> this.members.get(0).board.arrived(1)).isInstanceOf(CollectiveMismatchException.class)
			.hasMessageContaining("rank 0 called barrier #0")
			.hasMessageContaining("rank 1 called broadcast #0 (count 3, int32, root 1)");
	}

	@Test
	void anUncheckedMismatchIsDetectedAtTheNextCheck() {
		MemorySegment one = MemorySegment.ofArray(new int[1]);
		this.members.get(0).group.broadcast(one, DataType.INT32, 0);
		this.members.get(1).group.broadcast(one, DataType.INT32, 1);
		this.members.forEach((member) -> member.group.barrier());
		assertThatThrownBy(() -> this.members.get(1).board.arrived(0)).isInstanceOf(CollectiveMismatchException.class)
			.hasMessageContaining("ranks 1 and 0 called different collectives in an earlier call");
	}

	@Test
	void aMismatchManyCallsAgoIsDetected() {
		MemorySegment one = MemorySegment.ofArray(new int[1]);
		this.members.get(0).group.broadcast(one, DataType.INT32, 0);
		this.members.get(1).group.broadcast(one, DataType.INT32, 1);
		for (int round = 0; round < HostLayout.SLOTS; round++) {
			this.members.forEach((member) -> member.group.barrier());
		}
		assertThatThrownBy(() -> this.members.get(1).board.arrived(0)).isInstanceOf(CollectiveMismatchException.class)
			.hasMessageContaining("in an earlier call");
	}

}
