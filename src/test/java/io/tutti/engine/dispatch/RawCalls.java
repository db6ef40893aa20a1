package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * Issues any collective on a group in any layout of its buffers.
 */
public final class RawCalls {

	private RawCalls() {
	}

	public static void run(ProcessGroup group, Collective collective, MemorySegment send, MemorySegment receive,
			DataType type, ReduceOp op, int root, Duration timeout) {
		runner(group).run(collective, send, receive, type, op, root, timeout);
	}

	public static CompletableFuture<Void> runAsync(ProcessGroup group, Collective collective, MemorySegment send,
			MemorySegment receive, DataType type, ReduceOp op, int root, Duration timeout) {
		return runner(group).runAsync(collective, send, receive, type, op, root, timeout);
	}

	public static void runUneven(ProcessGroup group, Collective collective, MemorySegment send, MemorySegment receive,
			DataType type, ReduceOp op, int root, long[] counts, Duration timeout) {
		runner(group).runUneven(collective, send, receive, type, op, root, counts, null, timeout);
	}

	public static CompletableFuture<Void> runUnevenAsync(ProcessGroup group, Collective collective, MemorySegment send,
			MemorySegment receive, DataType type, ReduceOp op, int root, long[] counts, Duration timeout) {
		return runner(group).runUnevenAsync(collective, send, receive, type, op, root, counts, null, timeout);
	}

	private static CallRunner runner(ProcessGroup group) {
		return ((DefaultProcessGroup) group).runner();
	}

}
