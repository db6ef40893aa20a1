package io.tutti.service.rest;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletionException;

import io.tutti.engine.CallSignature;
import io.tutti.engine.CollectiveException;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.rendezvous.CallMatch;
import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.JoinedGroup;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * Collectives for processes beside the ranks. Each is announced on the control plane
 * first, so that one which cannot succeed touches nothing; those that can are made in the
 * order that rank 0 gave them, in a group of their own, which is formed for the first.
 */
@Component
final class HttpCollectives {

	private static final String GROUP = "http";

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	private final Timeouts timeouts;

	private final OrderedCalls calls;

	/** Used by the thread of the calls alone. */
	private @Nullable ProcessGroup beside;

	HttpCollectives(GroupLifecycle group, BoundedWaits waits, Timeouts timeouts) {
		this.group = group;
		this.waits = waits;
		this.timeouts = timeouts;
		this.calls = new OrderedCalls("tutti-r" + group.assignment().rank() + "-http-collectives");
	}

	/**
	 * Carries out a call together with the other ranks.
	 * @param label which count of calls it belongs to
	 * @param timeout how long the others may take to come
	 * @param body this rank's bytes
	 * @param memory where the answer is laid
	 * @return this rank's answer
	 * @throws BodyTooLargeException if some rank's answer would be too large: where all
	 * know that, none comes
	 * @throws CallNotMatchedException if the others did not come or called something else
	 * @throws GroupUnavailableException if the group is not ready or breaks meanwhile
	 */
	MemorySegment run(AnnouncedCall call, String label, Duration timeout, MemorySegment body, TransferMemory memory) {
		CallSignature signature = call.signature(body.byteSize());
		memory.requireRoom(call.largestAnswerBytes(signature.count()));
		JoinedGroup joined = this.group.ready();
		try {
			CallMatch match = this.waits.await(() -> joined.control().match(label, signature, timeout));
			if (!match.matched()) {
				throw new CallNotMatchedException(signature, match, timeout);
			}
			long count = match.calls().values().stream().mapToLong(CallSignature::count).max().orElse(0);
			return this.calls.submit(match.order(), () -> make(joined, call, count, body, memory)).join();
		}
		catch (CollectiveException ex) {
			throw new GroupUnavailableException(this.group.statusOf(ex), ex);
		}
		catch (CompletionException ex) {
			throw unwrapped(ex);
		}
	}

	private RuntimeException unwrapped(CompletionException failure) {
		return switch (failure.getCause()) {
			case CollectiveException ex -> new GroupUnavailableException(this.group.statusOf(ex), ex);
			case RuntimeException ex -> ex;
			case null, default -> failure;
		};
	}

	/** On the thread of the calls. */
	private MemorySegment make(JoinedGroup joined, AnnouncedCall call, long count, MemorySegment body,
			TransferMemory memory) {
		ProcessGroup ready = beside(joined);
		MemorySegment answer = answer(ready, call, count, memory);
		Duration timeout = this.timeouts.collective();
		switch (call.collective()) {
			case ALL_REDUCE -> ready.allReduce(copied(body, answer), call.type(), call.op(), timeout);
			case BROADCAST -> ready.broadcast(copied(body, answer), call.type(), call.root(), timeout);
			case REDUCE -> ready.reduce(body, answer, call.type(), call.op(), call.root(), timeout);
			case ALL_GATHER -> ready.allGather(body, answer, call.type(), timeout);
			case REDUCE_SCATTER -> ready.reduceScatter(body, answer, call.type(), call.op(), timeout);
			case GATHER -> ready.gather(body, answer, call.type(), call.root(), timeout);
			case SCATTER -> ready.scatter(body, answer, call.type(), call.root(), timeout);
			case ALL_TO_ALL -> ready.allToAll(body, answer, call.type(), timeout);
			case BARRIER -> ready.barrier(timeout);
		}
		return answer;
	}

	/**
	 * A rank that cannot take its answer, such as one whose limit is lower than the
	 * others', says so to all: they would wait for it.
	 */
	private static MemorySegment answer(ProcessGroup ready, AnnouncedCall call, long count, TransferMemory memory) {
		try {
			return memory.allocate(call.answerBytes(count));
		}
		catch (BodyTooLargeException | OutOfMemoryError ex) {
			ready.abort("rank " + call.rank() + " cannot take part in " + call.collective() + ": " + ex.getMessage());
			throw ex;
		}
	}

	private static MemorySegment copied(MemorySegment body, MemorySegment answer) {
		MemorySegment.copy(body, 0, answer, 0, body.byteSize());
		return answer;
	}

	private ProcessGroup beside(JoinedGroup joined) {
		ProcessGroup formed = this.beside;
		if (formed == null) {
			formed = joined.formBeside(GROUP);
			this.beside = formed;
		}
		return formed;
	}

	/** The engine closes the group itself, as one of those beside the first. */
	@PreDestroy
	void close() {
		this.calls.close();
	}

}
