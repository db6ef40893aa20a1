package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.DataType;
import io.tutti.engine.p2p.MessageOperation.Kind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MessageOperationTest {

	/** A thread looks at the clock, and another one begins the time first. */
	@Test
	void anEndlessLimitHasNotPassedForAThreadThatLookedAtTheClockBeforeTheStart() {
		MessageOperation send = new MessageOperation(List.of(0, 1));
		send.set(Kind.SEND, MemorySegment.ofArray(new byte[8]), DataType.INT8, 0, 0, Long.MAX_VALUE);
		assertThat(send.elapsedNanos(1000)).isZero();
		assertThat(send.elapsedNanos(900)).isZero();
		assertThat(send.remainingNanos(900)).isPositive();
		send.beginWithdrawal(new IllegalStateException("cancelled"), 0);
		assertThat(send.remainingNanos(900)).isPositive();
	}

}
