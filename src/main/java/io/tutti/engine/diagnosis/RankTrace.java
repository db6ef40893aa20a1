package io.tutti.engine.diagnosis;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.Failure;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * The last calls of one rank in all its groups. Times are the rank's
 * {@link System#nanoTime()}. The offset makes them comparable between ranks: on one host
 * to a microsecond, between hosts to the difference of their clocks.
 *
 * @param rank the rank
 * @param generation the generation of the rank's job
 * @param takenNanos when the trace was taken
 * @param clockOffsetNanos the offset to add to a time to get nanoseconds since 1970
 * @param groups the rank's groups, the world group first
 * @param left the groups that the rank left last, without calls: it is not missing from a
 * call that it has completed
 */
public record RankTrace(int rank, long generation, long takenNanos, long clockOffsetNanos, List<GroupTrace> groups,
		List<GroupTrace> left) {

	/** Maximum number of groups in a trace. The largest groups are kept. */
	public static final int MAX_GROUPS = 64;

	public RankTrace {
		groups = List.copyOf(groups);
		left = List.copyOf(left);
	}

	/**
	 * Takes the trace of this process.
	 * @param rank its world rank
	 * @param limit maximum number of calls per group
	 */
	public static RankTrace take(int rank, long generation, Collection<DefaultProcessGroup> groups, int limit) {
		List<GroupTrace> traces = groups.stream()
			.map((group) -> GroupTrace.of(group, limit))
			.sorted(Comparator.<GroupTrace, Boolean>comparing((trace) -> !trace.group().equals(Failure.WORLD))
				.thenComparingInt((trace) -> -trace.members().size())
				.thenComparing(GroupTrace::group))
			.limit(MAX_GROUPS)
			.toList();
		// After the copy: no call in it began later.
		long nanos = System.nanoTime();
		Instant now = Instant.now();
		long epochNanos = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
		return new RankTrace(rank, generation, nanos, epochNanos - nanos, traces, List.of());
	}

	/**
	 * The same with groups that the rank has left.
	 * @param lastEntered sequence number of the last call in each of them, the group that
	 * it left last at the end; more than {@link #MAX_GROUPS} are left out
	 */
	public RankTrace withLeft(SequencedMap<String, Long> lastEntered) {
		List<GroupTrace> last = lastEntered.sequencedEntrySet()
			.reversed()
			.stream()
			.limit(MAX_GROUPS)
			.map((group) -> new GroupTrace(group.getKey(), List.of(), "", group.getValue(), List.of()))
			.toList();
		return new RankTrace(this.rank, this.generation, this.takenNanos, this.clockOffsetNanos, this.groups, last);
	}

	/** The same with at most the latest calls of each group. */
	public RankTrace latest(int limit) {
		return new RankTrace(this.rank, this.generation, this.takenNanos, this.clockOffsetNanos,
				this.groups.stream()
					.map((group) -> new GroupTrace(group.group(), group.members(), group.transport(), group.last(),
							group.calls().subList(Math.max(0, group.calls().size() - limit), group.calls().size())))
					.toList(),
				this.left);
	}

	/** Encodes this trace for the control plane. */
	public byte[] encode() {
		return RecordCodec.encode(this);
	}

	/**
	 * Decodes the traces of many ranks. Omits invalid traces and those of other ranks.
	 */
	public static Map<Integer, RankTrace> decodeAll(Map<Integer, byte[]> encoded) {
		Map<Integer, RankTrace> traces = new TreeMap<>();
		encoded.forEach((rank, bytes) -> {
			try {
				RankTrace trace = RecordCodec.decode(RankTrace.class, ByteBuffer.wrap(bytes));
				if (trace.rank() == rank) {
					traces.put(rank, trace);
				}
			}
			catch (MalformedFrameException ex) {
				// The rank counts as silent.
			}
		});
		return traces;
	}

	/** Converts a time of this rank to nanoseconds since 1970. */
	public long epochNanos(long nanos) {
		return nanos + this.clockOffsetNanos;
	}

	/**
	 * The trace of a group, without calls if the rank does not have it, or has left it.
	 */
	public GroupTrace group(String name) {
		return Stream.concat(this.groups.stream(), this.left.stream())
			.filter((group) -> group.group().equals(name))
			.findFirst()
			.orElseGet(() -> GroupTrace.none(name));
	}

}
