package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

import io.tutti.CollectiveException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Deadline;
import io.tutti.service.config.HttpCollectivesProperties;
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
 * All of them together lie within one budget of memory.
 */
@Component
final class HttpCollectives {

	private static final String GROUP = "http";

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	private final Timeouts timeouts;

	private final OrderedCalls calls;

	private final long maxBytes;

	private final NamedRounds<Answer> rounds = new NamedRounds<>();

	private final TransferBudget budget;

	/** Used by the thread of the calls alone. */
	private @Nullable ProcessGroup beside;

	HttpCollectives(GroupLifecycle group, BoundedWaits waits, Timeouts timeouts, HttpCollectivesProperties properties) {
		this.group = group;
		this.waits = waits;
		this.timeouts = timeouts;
		this.calls = new OrderedCalls("tutti-r" + group.assignment().rank() + "-http-collectives");
		this.maxBytes = properties.maxBytes().toBytes();
		this.budget = new TransferBudget(properties.budget().toBytes(), this.rounds::evict);
	}

	/**
	 * Carries out a call together with the other ranks, or repeats the answer of a named
	 * round.
	 * @param wait which round of which label, and how long the other ranks may take to
	 * come
	 * @param body this rank's bytes, which are read once there is room for them
	 * @param bodyBytes how many there are, -1 if that is not known
	 * @return this rank's answer, which the caller releases
	 * @throws OverloadedException if no memory was to be had in time
	 * @throws BodyTooLargeException if some rank's answer would be too large: where all
	 * know that, none comes
	 * @throws RoundConflictException if the named round is over or was called with
	 * something else
	 * @throws CallNotMatchedException if the others did not come or called something else
	 * @throws CallWithdrawnException if the client disconnected before all had come
	 * @throws GroupUnavailableException if the group is not ready or breaks meanwhile
	 */
	Answer run(LabelledCall call, RoundWait wait, InputStream body, long bodyBytes) throws IOException {
		long wanted = neededBytes(call, bodyBytes);
		try (TransferMemory memory = new TransferMemory(this.maxBytes,
				this.waits.await(() -> this.budget.reserve(wanted, wait.timeout())))) {
			MemorySegment elements = memory.read(body, bodyBytes, Deadline.after(wait.timeout()));
			TransferMemory.requireRoom(call.largestAnswerBytes(call.signature(elements.byteSize()).count()),
					this.maxBytes);
			return this.waits.await(() -> execute(call, wait, elements, memory));
		}
		finally {
			this.budget.relieve();
		}
	}

	/** For the body and the answer; a body of unknown length is copied as it grows. */
	private long neededBytes(LabelledCall call, long bodyBytes) {
		if (bodyBytes < 0) {
			return 2 * this.maxBytes;
		}
		TransferMemory.requireBody(bodyBytes, this.maxBytes);
		long count = call.signature(bodyBytes).count();
		TransferMemory.requireRoom(call.largestAnswerBytes(count), this.maxBytes);
		return bodyBytes + ((count < 0) ? this.maxBytes : call.answerBytes(count));
	}

	private Answer execute(LabelledCall call, RoundWait wait, MemorySegment body, TransferMemory memory) {
		BooleanSupplier client = wait.client();
		if (wait.round() == RoundWait.NEXT) {
			return carryOut(call, wait, body, memory);
		}
		var round = new NamedRounds.Round(wait.label(), wait.round(), call.digest(body));
		return this.rounds.run(round, (client != null) ? client : () -> true,
				(anyClient) -> carryOut(call,
						new RoundWait(wait.label(), wait.round(), wait.timeout(), (client != null) ? anyClient : null),
						body, memory));
	}

	private Answer carryOut(LabelledCall call, RoundWait wait, MemorySegment body, TransferMemory memory) {
		CallSignature signature = call.signature(body.byteSize());
		JoinedGroup joined = this.group.ready();
		try {
			CallMatch match = joined.control().match(wait, signature);
			if (match.meeting().result() == BarrierOutcome.Result.WITHDRAWN) {
				throw new CallWithdrawnException(wait.label());
			}
			if (!match.matched()) {
				throw new CallNotMatchedException(signature, match, wait.timeout());
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
	private Answer make(JoinedGroup joined, LabelledCall call, long count, MemorySegment body, TransferMemory memory) {
		ProcessGroup ready = beside(joined);
		Answer answer = answer(ready, call, count, memory);
		try {
			make(ready, call, body, answer.memory());
			return answer;
		}
		catch (RuntimeException | Error ex) {
			answer.release();
			throw ex;
		}
	}

	private void make(ProcessGroup ready, LabelledCall call, MemorySegment body, MemorySegment answer) {
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
	}

	/**
	 * A rank that cannot take its answer, such as one whose limit is lower than the
	 * others', says so to all: they would wait for it.
	 */
	private static Answer answer(ProcessGroup ready, LabelledCall call, long count, TransferMemory memory) {
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
