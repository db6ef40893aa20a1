package io.tutti.engine.dispatch;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.MemoryKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class FlightRecorderTest {

	private static final int CAPACITY = 64;

	private final FlightRecorder recorder = new FlightRecorder(CAPACITY);

	private final Call call = new Call(4, null);

	private void begin(long sequence) {
		this.call.describe(sequence, Collective.REDUCE, sequence * 7, DataType.BFLOAT16, ReduceOp.MAX, 3);
		this.call.counts(new long[] { sequence, 2, 3, 4 }, null);
		this.recorder.begin(this.call, sequence * 14, 100 + sequence, 200 + sequence);
	}

	private void complete(long sequence) {
		begin(sequence);
		this.call.algorithm("chain");
		this.recorder.end(this.call, true);
	}

	@Test
	void theMemoryKindOfACallIsKnownAfterItsEnd() {
		begin(0);
		this.call.onDevice();
		assertThat(this.recorder.memory(0)).isEqualTo(MemoryKind.UNKNOWN);
		this.recorder.end(this.call, true);
		begin(1);
		this.recorder.end(this.call, false);
		assertThat(this.recorder.memory(0)).isEqualTo(MemoryKind.DEVICE);
		assertThat(this.recorder.memory(1)).isEqualTo(MemoryKind.HOST);
		assertThat(this.recorder.memory(2)).isEqualTo(MemoryKind.UNKNOWN);
		assertThat(this.recorder.memory(-1)).isEqualTo(MemoryKind.UNKNOWN);
	}

	@Test
	void findReturnsTheRecordedCall() {
		complete(0);
		begin(1);
		CallSignature last = CallSignature.of(this.call);
		this.recorder.end(this.call, true);
		complete(2);
		assertThat(this.recorder.find(1)).isEqualTo(last);
		assertThat(this.recorder.last()).isEqualTo(2);
	}

	@Test
	void aCallIsRunningUntilItEnds() {
		complete(0);
		begin(1);
		CallRecord running = this.recorder.running();
		assertThat(running.call().sequence()).isEqualTo(1);
		assertThat(running.endedNanos()).isZero();
		assertThat(running.algorithm()).isEmpty();
		assertThat(running.durationNanos(1000)).isEqualTo(1000 - 201);
		this.call.algorithm("star");
		this.recorder.end(this.call, true);
		assertThat(this.recorder.running()).isNull();
		CallRecord done = this.recorder.latest(1).getFirst();
		assertThat(done.state()).isEqualTo(CallRecord.State.DONE);
		assertThat(done.algorithm()).isEqualTo("star");
		assertThat(done.bytes()).isEqualTo(14);
		assertThat(done.issuedNanos()).isEqualTo(101);
		assertThat(done.startedNanos()).isEqualTo(201);
		assertThat(done.endedNanos()).isGreaterThan(201);
		assertThat(done.site()).isNull();
	}

	@Test
	void aCallThatHasNotBegunIsNotFound() {
		assertThat(this.recorder.find(0)).isNull();
		assertThat(this.recorder.running()).isNull();
		assertThat(this.recorder.latest(5)).isEmpty();
		assertThat(this.recorder.last()).isEqualTo(-1);
		complete(0);
		assertThat(this.recorder.find(1)).isNull();
		assertThat(this.recorder.find(-1)).isNull();
	}

	@Test
	void onlyTheLastCallsAreKept() {
		IntStream.range(0, 1000).forEach(this::complete);
		for (int sequence = 0; sequence < 1000; sequence++) {
			CallSignature found = this.recorder.find(sequence);
			assertThat(found != null).isEqualTo(sequence > 1000 - CAPACITY);
		}
		assertThat(this.recorder.latest(5)).extracting((latest) -> latest.call().sequence())
			.containsExactly(995L, 996L, 997L, 998L, 999L);
		assertThat(this.recorder.latest(5000)).hasSize(CAPACITY - 1);
	}

	@Test
	void totalsIncludeCallsThatAreNoLongerKept() {
		IntStream.range(0, 1000).forEach(this::complete);
		begin(1000);
		this.recorder.end(this.call, false);
		CallTotals totals = this.recorder.totals(Collective.REDUCE);
		assertThat(totals.success().count()).isEqualTo(1000);
		assertThat(totals.failure().count()).isOne();
		assertThat(totals.bytes()).isEqualTo(14L * 999 * 1000 / 2);
		assertThat(totals.success().nanos()).isPositive();
		assertThat(totals.success().counts()).hasSize(CallDurations.boundsNanos().length + 1);
		assertThat(this.recorder.totals(Collective.BARRIER)).isEqualTo(CallTotals.NONE);
		assertThat(this.recorder.latest(1).getFirst().state()).isEqualTo(CallRecord.State.FAILED);
	}

	@Test
	void callSitesAreRecordedOnlyOnRequest() {
		this.recorder.recordSites(true);
		complete(0);
		this.recorder.recordSites(false);
		complete(1);
		assertThat(this.recorder.latest(2).getFirst().site()).matches("\\w+\\.\\w+:-?\\d+");
		assertThat(this.recorder.latest(2).getLast().site()).isNull();
	}

	@Test
	void aReaderNeverGetsACallThatIsBeingOverwritten() throws InterruptedException {
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger wrong = new AtomicInteger();
		AtomicInteger found = new AtomicInteger();
		Thread reader = Thread.ofPlatform().start(() -> {
			while (!done.get()) {
				for (CallRecord call : this.recorder.latest(CAPACITY)) {
					found.incrementAndGet();
					long sequence = call.call().sequence();
					boolean ended = call.state() == CallRecord.State.DONE;
					if (call.call().count() != sequence * 7 || call.bytes() != sequence * 14
							|| call.issuedNanos() != 100 + sequence || ended != call.algorithm().equals("chain")) {
						wrong.incrementAndGet();
					}
				}
			}
		});
		long sequence = 0;
		while (sequence < 1_000_000 || found.get() == 0) {
			complete(sequence++);
		}
		done.set(true);
		reader.join();
		assertThat(wrong).hasValue(0);
	}

}
