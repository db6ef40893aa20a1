package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.CompletionException;

import io.tutti.CollectiveException;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Deadline;
import io.tutti.service.config.HttpCollectivesProperties;
import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.BrokenGeneration;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.PerGeneration;
import jakarta.annotation.PreDestroy;
import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Lazy;

/**
 * Collectives over HTTP for processes beside the ranks. The ranks match each call over
 * the control plane first, so a call that cannot succeed has no effect. Matched calls run
 * in the order that rank 0 assigned, in a process group of their own, which is formed for
 * the first call. All calls together share one memory budget.
 */
@Lazy
final class HttpCollectives {

	private static final String GROUP = "http";

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	private final Timeouts timeouts;

	private final ProblemFactory problems;

	private final PerGeneration<Calls> calls;

	private final long maxBytes;

	private final TransferBudget budget;

	/** The calls of one generation of the group, whose rounds and order start anew. */
	private static final class Calls {

		private final JoinedGroup joined;

		private final OrderedCalls order;

		private final NamedRounds<Answer> rounds = new NamedRounds<>();

		/** Accessed only by the call thread. */
		private @Nullable ProcessGroup beside;

		Calls(JoinedGroup joined) {
			this.joined = joined;
			this.order = new OrderedCalls("tutti-r" + joined.world().rank() + "-http-collectives");
		}

		private ProcessGroup beside() {
			ProcessGroup formed = this.beside;
			if (formed == null) {
				formed = this.joined.formBeside(GROUP);
				this.beside = formed;
			}
			return formed;
		}

		/** Stops the call thread; the engine closes the process group. */
		void close(GroupUnavailableException reason) {
			this.order.close(reason);
			this.rounds.close();
		}

	}

	HttpCollectives(GroupLifecycle group, BoundedWaits waits, Timeouts timeouts, HttpCollectivesProperties properties,
			ProblemFactory problems) {
		this.group = group;
		this.waits = waits;
		this.timeouts = timeouts;
		this.problems = problems;
		this.calls = new PerGeneration<>(Calls::new,
				(calls) -> calls.close(new GroupUnavailableException(group.status(), null)));
		group.onFormed(this.calls::formed);
		group.onBroken(this::end);
		this.maxBytes = properties.maxBytes().toBytes();
		this.budget = new TransferBudget(properties.budget().toBytes(), this::evict);
	}

	private void end(BrokenGeneration broken) {
		Calls current = this.calls.current();
		if (current != null) {
			CollectiveException cause = CollectiveException.of(broken.assignment().rank(),
					broken.assignment().worldSize(), broken.failure(), null);
			current.order.end(new GroupUnavailableException(this.group.statusOf(current.joined, cause), cause));
		}
	}

	private boolean evict() {
		Calls current = this.calls.current();
		return current != null && current.rounds.evict();
	}

	/**
	 * Runs a call with the other ranks, or returns the stored answer of a named round.
	 * @param wait label and round, and how long the other ranks may take to arrive
	 * @param body this rank's bytes, which are read after memory has been reserved
	 * @param bodyBytes length of the body, -1 if unknown
	 * @return this rank's answer, which the caller releases
	 * @throws ProblemException if memory could not be reserved in time, or if the group
	 * is not ready or breaks during the call
	 * @throws BodyTooLargeException if the body, or the answer of any rank, would be too
	 * large; a rank that can compute the size refuses the call before matching
	 * @throws ProblemException if the named round is over or was called with other
	 * parameters or another body
	 * @throws RoundFailedException if a rank did not arrive or its call differs
	 * @throws CallWithdrawnException if the client disconnected before every rank had
	 * arrived
	 * @throws GroupUnavailableException if the group has not formed
	 */
	Answer run(LabelledCall call, RoundWait wait, InputStream body, long bodyBytes) throws IOException {
		long wanted = neededBytes(call, bodyBytes);
		NamedRounds<Answer> rounds = this.calls.of(this.group.requireJoined()).rounds;
		rounds.begin(wait);
		try {
			NamedRounds.Stored<Answer> stored = rounds.stored(wait);
			if (stored != null) {
				return repeat(stored, call, wait, body);
			}
			TransferBudget.Reservation reserved;
			try {
				reserved = this.waits.await(() -> this.budget.reserve(wanted, wait.timeout()));
			}
			catch (ProblemException ex) {
				// The round may have run meanwhile.
				NamedRounds.Stored<Answer> late = rounds.stored(wait);
				if (late == null) {
					throw ex;
				}
				return repeat(late, call, wait, body);
			}
			return run(call, wait, body, bodyBytes, reserved);
		}
		finally {
			rounds.end(wait);
			this.budget.relieve();
		}
	}

	private Answer run(LabelledCall call, RoundWait wait, InputStream body, long bodyBytes,
			TransferBudget.Reservation reserved) throws IOException {
		try (TransferMemory memory = new TransferMemory(this.maxBytes, reserved)) {
			MemorySegment elements = memory.read(body, bodyBytes, Deadline.after(wait.timeout()));
			memory.shrink(neededBytes(call, elements.byteSize()));
			return this.waits.await(() -> execute(call, wait, elements, memory));
		}
	}

	/**
	 * A request that repeats a round needs no memory for its body. If it had to reserve
	 * some, the answer could be evicted for it.
	 */
	private Answer repeat(NamedRounds.Stored<Answer> stored, LabelledCall call, RoundWait wait, InputStream body)
			throws IOException {
		try {
			MessageDigest digest = call.digest();
			TransferMemory.read(body, this.maxBytes, Deadline.after(wait.timeout()), digest::update);
			stored.require(digest.digest());
			return stored.answer();
		}
		catch (IOException | RuntimeException | Error ex) {
			stored.answer().release();
			throw ex;
		}
	}

	/**
	 * Memory for body and answer. A body of unknown length is reallocated as it grows,
	 * within the answer's share.
	 */
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
		Calls of = this.calls.of(this.group.requireJoined());
		RunningCall running = RunningCall.start(call.collective().label(), wait, of.joined);
		try {
			return of.rounds.run(wait, () -> call.digest(body), (each) -> carryOut(of, call, each, body, memory));
		}
		catch (GroupUnavailableException ex) {
			throw this.problems.unavailable(ex, running);
		}
	}

	private Answer carryOut(Calls of, LabelledCall call, RoundWait wait, MemorySegment body, TransferMemory memory) {
		CallSignature signature = call.signature(body.byteSize());
		requireCurrent(of, call);
		of.order.requireOpen();
		try {
			CallMatch match = match(of, wait, signature);
			if (match.outcome().result() == BarrierOutcome.Result.WITHDRAWN) {
				throw new CallWithdrawnException(wait.label());
			}
			if (!match.matched()) {
				throw RoundFailedException.ofCall(signature, match, wait.timeout());
			}
			long count = match.calls().stream().mapToLong((one) -> one.call().count()).max().orElse(0);
			return of.order.submit(match.order(), () -> make(of, call, count, body, memory)).join();
		}
		catch (CollectiveException ex) {
			throw new GroupUnavailableException(this.group.statusOf(of.joined, ex), ex);
		}
		catch (CompletionException ex) {
			throw unwrapped(of, ex);
		}
	}

	/**
	 * Without rank 0's answer, the call may have been matched and its number be missing
	 * on this rank. Later calls then fail, since they would wait for it forever. That
	 * another rank leaves is heard after all answers that rank 0 gave before, so that the
	 * calls matched until then can complete.
	 */
	private CallMatch match(Calls of, RoundWait wait, CallSignature signature) {
		try {
			return of.joined.control().match(wait, signature);
		}
		catch (CollectiveException ex) {
			boolean otherRankLeft = ex.failure().kind() == Failure.Kind.PEER_LOST && !ex.failure().ranks().contains(0);
			if (!otherRankLeft) {
				of.order.end(new GroupUnavailableException(this.group.statusOf(of.joined, ex), ex));
			}
			throw ex;
		}
	}

	/** A request that was read in one generation does not run in the next one. */
	private void requireCurrent(Calls of, LabelledCall call) {
		ProcessGroup world = of.joined.world();
		if (this.group.ready() != of.joined || call.rank() != world.rank() || call.worldSize() != world.worldSize()) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
	}

	private RuntimeException unwrapped(Calls of, CompletionException failure) {
		return switch (failure.getCause()) {
			case CollectiveException ex -> new GroupUnavailableException(this.group.statusOf(of.joined, ex), ex);
			case RuntimeException ex -> ex;
			case null, default -> failure;
		};
	}

	/** Runs on the call thread. */
	private Answer make(Calls of, LabelledCall call, long count, MemorySegment body, TransferMemory memory) {
		ProcessGroup ready = beside(of);
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

	/**
	 * Ranks cannot form a group of the same name again, since rank 0 answers with the
	 * verdict on the first one: after a failure all later calls fail.
	 */
	private ProcessGroup beside(Calls of) {
		try {
			return of.beside();
		}
		catch (RuntimeException | Error ex) {
			of.order.end(unwrapped(of, new CompletionException(ex)));
			throw ex;
		}
	}

	private void make(ProcessGroup ready, LabelledCall call, MemorySegment body, MemorySegment answer) {
		ProcessGroup limited = ready.withTimeout(this.timeouts.collective());
		switch (call.collective()) {
			case ALL_REDUCE -> limited.allReduce(copied(body, answer), call.type(), call.op());
			case BROADCAST -> limited.broadcast(copied(body, answer), call.type(), call.root());
			case REDUCE -> limited.reduce(body, answer, call.type(), call.op(), call.root());
			case ALL_GATHER -> limited.allGather(body, answer, call.type());
			case REDUCE_SCATTER -> limited.reduceScatter(body, answer, call.type(), call.op());
			case GATHER -> limited.gather(body, answer, call.type(), call.root());
			case SCATTER -> limited.scatter(body, answer, call.type(), call.root());
			case ALL_TO_ALL -> limited.allToAll(body, answer, call.type());
			case BARRIER -> limited.barrier();
			case SCAN -> limited.scan(body, answer, call.type(), call.op());
			case EXCLUSIVE_SCAN ->
				limited.exclusiveScan(body, (call.rank() == 0) ? body : answer, call.type(), call.op());
		}
	}

	/**
	 * Allocates the answer. A rank that cannot hold its answer, for example because its
	 * limit is lower, aborts the group: the other ranks would otherwise wait for it.
	 */
	private static Answer answer(ProcessGroup ready, LabelledCall call, long count, TransferMemory memory) {
		try {
			return memory.allocate(call.answerBytes(count));
		}
		catch (BodyTooLargeException | OutOfMemoryError ex) {
			ready.abort(ExitCode.PEER_LOST,
					"rank " + call.rank() + " cannot take part in " + call.collective() + ": " + ex.getMessage());
			throw ex;
		}
	}

	private static MemorySegment copied(MemorySegment body, MemorySegment answer) {
		MemorySegment.copy(body, 0, answer, 0, body.byteSize());
		return answer;
	}

	/** Stops the call thread; the engine closes the process group. */
	@PreDestroy
	void close() {
		this.calls.close();
	}

}
