package io.tutti.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class RecentCallsTest {

	private final RecentCalls recent = new RecentCalls();

	private final Call call = new Call(4, CallWatch.NOBODY);

	private void enter(long sequence) {
		this.call.describe(sequence, Collective.REDUCE, sequence * 7, DataType.BFLOAT16, ReduceOp.MAX, 3);
		this.call.counts(new long[] { sequence, 2, 3, 4 }, null);
		this.recent.enter(this.call);
	}

	@Test
	void aCallIsFoundAsItWas() {
		enter(0);
		enter(1);
		CallSignature last = CallSignature.of(this.call);
		enter(2);
		assertThat(this.recent.find(1)).isEqualTo(last);
		assertThat(this.recent.last()).isEqualTo(2);
	}

	@Test
	void whatHasNotBegunIsNotFound() {
		assertThat(this.recent.find(0)).isNull();
		assertThat(this.recent.last()).isEqualTo(-1);
		enter(0);
		assertThat(this.recent.find(1)).isNull();
		assertThat(this.recent.find(-1)).isNull();
	}

	@Test
	void onlyTheLastCallsAreRemembered() {
		for (int sequence = 0; sequence < 1000; sequence++) {
			enter(sequence);
		}
		for (int sequence = 0; sequence < 1000; sequence++) {
			CallSignature found = this.recent.find(sequence);
			assertThat(found != null).isEqualTo(sequence > 1000 - RecentCalls.REMEMBERED);
		}
	}

	@Test
	void aReaderNeverGetsACallThatIsBeingOverwritten() throws InterruptedException {
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger wrong = new AtomicInteger();
		AtomicInteger found = new AtomicInteger();
		Thread reader = Thread.ofPlatform().start(() -> {
			while (!done.get()) {
				long sequence = this.recent.last() - RecentCalls.REMEMBERED + 2;
				CallSignature call = this.recent.find(sequence);
				if (call != null) {
					found.incrementAndGet();
					if (call.count() != sequence * 7 || call.sequence() != sequence) {
						wrong.incrementAndGet();
					}
				}
			}
		});
		long sequence = 0;
		while (sequence < 1_000_000 || found.get() == 0) {
			enter(sequence++);
		}
		done.set(true);
		reader.join();
		assertThat(wrong).hasValue(0);
	}

}
