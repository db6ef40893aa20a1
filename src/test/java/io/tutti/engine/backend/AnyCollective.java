package io.tutti.engine.backend;

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
public final class AnyCollective {

	private AnyCollective() {
	}

	public static void run(ProcessGroup group, Collective collective, MemorySegment send, MemorySegment receive,
			DataType type, ReduceOp op, int root, Duration timeout) {
		ProcessGroup limited = group.withTimeout(timeout);
		switch (collective) {
			case ALL_REDUCE -> {
				if (send.equals(receive)) {
					limited.allReduce(receive, type, op);
				}
				else {
					limited.allReduce(send, receive, type, op);
				}
			}
			case REDUCE -> limited.reduce(send, receive, type, op, root);
			case BROADCAST -> limited.broadcast(receive, type, root);
			case ALL_GATHER -> limited.allGather(send, receive, type);
			case REDUCE_SCATTER -> limited.reduceScatter(send, receive, type, op);
			case GATHER -> limited.gather(send, receive, type, root);
			case SCATTER -> limited.scatter(send, receive, type, root);
			case ALL_TO_ALL -> limited.allToAll(send, receive, type);
			case SCAN -> limited.scan(send, receive, type, op);
			case EXCLUSIVE_SCAN -> limited.exclusiveScan(send, receive, type, op);
			case BARRIER -> limited.barrier();
		}
	}

	public static CompletableFuture<Void> runAsync(ProcessGroup group, Collective collective, MemorySegment send,
			MemorySegment receive, DataType type, ReduceOp op, int root, Duration timeout) {
		ProcessGroup limited = group.withTimeout(timeout);
		return (switch (collective) {
			case ALL_REDUCE -> send.equals(receive) ? limited.allReduceAsync(receive, type, op)
					: limited.allReduceAsync(send, receive, type, op);
			case REDUCE -> limited.reduceAsync(send, receive, type, op, root);
			case BROADCAST -> limited.broadcastAsync(receive, type, root);
			case ALL_GATHER -> limited.allGatherAsync(send, receive, type);
			case REDUCE_SCATTER -> limited.reduceScatterAsync(send, receive, type, op);
			case GATHER -> limited.gatherAsync(send, receive, type, root);
			case SCATTER -> limited.scatterAsync(send, receive, type, root);
			case ALL_TO_ALL -> limited.allToAllAsync(send, receive, type);
			case SCAN -> limited.scanAsync(send, receive, type, op);
			case EXCLUSIVE_SCAN -> limited.exclusiveScanAsync(send, receive, type, op);
			case BARRIER -> limited.barrierAsync();
		}).toFuture();
	}

	public static void runUneven(ProcessGroup group, Collective collective, MemorySegment send, MemorySegment receive,
			DataType type, ReduceOp op, int root, long[] counts, Duration timeout) {
		ProcessGroup limited = group.withTimeout(timeout);
		switch (collective) {
			case ALL_GATHER -> limited.allGather(send, receive, counts, type);
			case REDUCE_SCATTER -> limited.reduceScatter(send, receive, counts, type, op);
			case GATHER -> limited.gather(send, receive, counts, type, root);
			case SCATTER -> limited.scatter(send, receive, counts, type, root);
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN, BARRIER ->
				throw new IllegalArgumentException(collective + " has no counts by rank");
		}
	}

	public static CompletableFuture<Void> runUnevenAsync(ProcessGroup group, Collective collective, MemorySegment send,
			MemorySegment receive, DataType type, ReduceOp op, int root, long[] counts, Duration timeout) {
		ProcessGroup limited = group.withTimeout(timeout);
		return (switch (collective) {
			case ALL_GATHER -> limited.allGatherAsync(send, receive, counts, type);
			case REDUCE_SCATTER -> limited.reduceScatterAsync(send, receive, counts, type, op);
			case GATHER -> limited.gatherAsync(send, receive, counts, type, root);
			case SCATTER -> limited.scatterAsync(send, receive, counts, type, root);
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN, BARRIER ->
				throw new IllegalArgumentException(collective + " has no counts by rank");
		}).toFuture();
	}

}
