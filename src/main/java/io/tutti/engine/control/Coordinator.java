package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.LabelledRequest;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.Notice;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.Request;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.spi.CallReport;
import org.jspecify.annotations.Nullable;

/**
 * Decides for all ranks at rank 0: failures, mismatched calls, departures, drain requests
 * and queries. Independent of the transport. Not thread safe; the owner calls
 * {@link #tick()}.
 */
public final class Coordinator {

	/** Sends rank 0's notices to the ranks, rank 0 included. */
	public interface Downlink {

		void send(int rank, Notice notice);

		/** To every rank that can be reached. */
		void broadcast(Notice notice);

		/** A rank has left or is lost; the table of peers has its new state. */
		default void peersChanged() {
		}

	}

	/**
	 * Handles labelled barriers and announced calls. Never blocks. Not thread safe.
	 */
	public interface LabelledHandler {

		/** A rank has sent a request. */
		void receive(int rank, LabelledRequest request);

		/** A rank has left or is lost. */
		void forget(int rank);

		/** Handles the deadlines that have passed. */
		void tick();

		/** Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} for never. */
		long nanosUntilDue();

	}

	private final Downlink downlink;

	private final PeerTable peers;

	private final DepartureTracker departures;

	private final FailureResolver resolver;

	private final MismatchDetector mismatches;

	private final LabelledHandler labelled;

	private boolean draining;

	/**
	 * @param peers the state of every rank, which this object changes when a rank leaves
	 * or is lost
	 */
	public Coordinator(PeerTable peers, Duration verdictLimit, LongSupplier nanoClock, Downlink downlink,
			LabelledHandler labelled) {
		this.downlink = downlink;
		this.peers = peers;
		this.departures = new DepartureTracker(peers, nanoClock, downlink);
		this.resolver = new FailureResolver(peers, this.departures, verdictLimit, nanoClock, downlink);
		this.mismatches = new MismatchDetector(peers, nanoClock, downlink, this.resolver::decided,
				this.resolver::report);
		this.labelled = labelled;
	}

	/** A rank has sent a request. */
	public void receive(int rank, Request request) {
		switch (request) {
			case Report(Failure failure) -> this.resolver.report(rank, failure);
			case CallsReported(List<CallReport> reports, boolean waits) -> this.mismatches.report(rank, reports, waits);
			case ProgressReply answer -> this.resolver.answer(rank, answer);
			case LabelledRequest labelledRequest -> this.labelled.receive(rank, labelledRequest);
			case LeftGroup(String group, List<Integer> members, long completed, var lastCall) ->
				left(new Departure(rank, group, completed), members, lastCall);
			case Drain(String reason) -> drain(reason);
			case QueryTraces(long ticket, int limit) -> askOthers(rank, new QueryTrace(rank, ticket, limit));
			case TraceReply(int requester, long ticket, byte[] trace) ->
				pass(requester, new ForwardedTrace(ticket, rank, trace));
			case Leave _ -> left(rank);
		}
	}

	/** The connection to a rank has ended, or the rank has been silent too long. */
	public void lost(int rank, String detail) {
		if (this.peers.gone(rank, PeerStatus.State.LOST)) {
			gone(rank);
			this.resolver.lost(rank, detail);
		}
	}

	/** Sends the departures that are still held back, since rank 0 is about to leave. */
	public void flushDepartures() {
		this.departures.flush();
	}

	public void tick() {
		this.departures.tick();
		this.resolver.tick();
		this.mismatches.tick();
		this.labelled.tick();
	}

	/** Nanoseconds until {@link #tick()} is due. */
	public long nanosUntilDue() {
		return Math.min(Math.min(this.departures.nanosUntilDue(), this.labelled.nanosUntilDue()),
				Math.min(this.resolver.nanosUntilDue(), this.mismatches.nanosUntilDue()));
	}

	private void askOthers(int requester, Notice question) {
		for (int rank = 0; rank < this.peers.worldSize(); rank++) {
			if (rank != requester && this.peers.isUp(rank)) {
				this.downlink.send(rank, question);
			}
		}
	}

	/** Checks the requester's rank, since another process sent it. */
	private void pass(int requester, Notice answer) {
		if (this.peers.isUp(requester)) {
			this.downlink.send(requester, answer);
		}
	}

	/**
	 * Compares the last call first: a rank that waits in another one is not left alone.
	 */
	private void left(Departure departure, List<Integer> members, @Nullable CallReport lastCall) {
		if (lastCall != null) {
			this.mismatches.left(departure.rank(), lastCall);
		}
		this.departures.left(departure, members);
		this.resolver.left();
	}

	private void left(int rank) {
		if (this.peers.gone(rank, PeerStatus.State.LEFT)) {
			this.departures.left(rank);
			gone(rank);
			this.resolver.left();
		}
	}

	private void gone(int rank) {
		this.labelled.forget(rank);
		this.downlink.peersChanged();
	}

	private void drain(String reason) {
		if (!this.draining) {
			this.draining = true;
			this.downlink.broadcast(new Drain(reason));
		}
	}

}
