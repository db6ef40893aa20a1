package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.Transfer;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Some of the transfers of a call have started when the next one fails.
 */
@Timeout(20)
class StartedTransfersTest {

	private final Error failure = new OutOfMemoryError("no memory");

	private final RuntimeException refusal = new IllegalStateException("not cancelled");

	private int receives;

	private int cancellations;

	@Test
	void anErrorCancelsAllThatHaveStartedAndStaysTheCause() {
		List<Transfer> transfers = List.of(receive(), receive(), receive());
		try (ProcessGroup group = group()) {
			assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> group.startAll(transfers))
				.isSameAs(this.failure)
				.satisfies((ex) -> assertThat(ex.getSuppressed()).containsOnly(this.refusal));
		}
		assertThat(this.cancellations).isEqualTo(2);
	}

	private static Transfer receive() {
		return Transfer.receive(MemorySegment.ofArray(new int[1]), DataType.INT32, 0, 7);
	}

	private ProcessGroup group() {
		GroupIdentity identity = GroupIdentity.world(0, 2, 0);
		FailureLatch latch = new FailureLatch();
		return new DefaultProcessGroup(identity, new IdleBackend("idle"), latch, latch::trip, Timeouts.DEFAULTS,
				new GroupFactory() {
					@Override
					public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
						return (PointToPoint) Proxy.newProxyInstance(PointToPoint.class.getClassLoader(),
								new Class<?>[] { PointToPoint.class },
								(_, method, _) -> StartedTransfersTest.this.answer(method));
					}
				});
	}

	/** The third receive fails, and no receive can be cancelled. */
	private @Nullable Object answer(Method method) {
		if (method.getName().equals("cancel")) {
			this.cancellations++;
			throw this.refusal;
		}
		if (!method.getName().equals("receiveAsync")) {
			return null;
		}
		if (++this.receives > 2) {
			throw this.failure;
		}
		return new CompletableFuture<>();
	}

}
