package io.tutti.engine.elastic;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.ElasticEvent;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.HostIdentity;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Phase;
import io.tutti.engine.elastic.FormationProtocol.Formed;
import org.jspecify.annotations.Nullable;

/**
 * This process's membership in an elastic job, from its start to its end: the formation
 * endpoint of its slot, and one engine after the other. One thread forms; the other
 * methods are thread-safe.
 */
public final class ElasticEngine implements AutoCloseable {

	private final FormationContext context;

	private final List<Consumer<ElasticEvent>> listeners = new CopyOnWriteArrayList<>();

	/** The current generation, or the last one. */
	private volatile @Nullable Formed formed;

	private volatile boolean forming = true;

	private volatile boolean closed;

	/** Whether the job ends after its next step. */
	private volatile boolean ending;

	private int failures;

	/** The last generation whose loss was reported. */
	private @Nullable Formation reported;

	private ElasticEngine(FormationContext context) {
		this.context = context;
		context.member().whenLeft(this::fail);
	}

	/**
	 * Begins a membership: listens at the endpoint of this rank's slot. Does not wait for
	 * other ranks.
	 * @param launched the launcher's assignment, whose rank is the slot and whose world
	 * size is the number of ranks that found the job
	 * @throws io.tutti.BackendUnavailableException if the backend cannot be elastic
	 * @throws IllegalArgumentException if the rank has no endpoint
	 * @throws io.tutti.engine.control.RendezvousException if the endpoint cannot be bound
	 */
	public static ElasticEngine open(RankAssignment launched, EngineSettings settings, ElasticSettings elastic,
			CollectiveListener events) {
		ElasticSettings.requireSupported(settings);
		if (launched.rank() >= elastic.maxRanks() || launched.worldSize() > elastic.maxRanks()) {
			throw new IllegalArgumentException("rank " + launched.rank() + " of " + launched.worldSize()
					+ " has no endpoint: tutti.elastic.endpoints lists " + elastic.maxRanks());
		}
		LocalMember member = new LocalMember(
				new Member(launched.rank(), FormationMessage.randomId(), HostIdentity.ofThisHost()));
		return new ElasticEngine(new FormationContext(member,
				FormationEndpoint.open(member, settings, elastic.endpoints(), events::warn), elastic, settings,
				launched, events));
	}

	/** Silence after which a rank counts as lost. */
	Duration heartbeat() {
		return this.context.settings().timeouts().heartbeat();
	}

	/** Adds a listener, called on the thread that forms. */
	public void onEvent(Consumer<ElasticEvent> listener) {
		this.listeners.add(listener);
	}

	void publish(ElasticEvent event) {
		this.listeners.forEach((listener) -> listener.accept(event));
	}

	void warn(String message) {
		this.context.events().warn(message);
	}

	/** The engine of the current generation, {@code null} before the first. */
	public @Nullable Engine engine() {
		Formed current = this.formed;
		return (current != null) ? current.engine() : null;
	}

	/**
	 * Waits for the failure of the current generation, which a rank that sees it sends
	 * before it leaves.
	 * @return {@code null} if there is none within the abort timeout
	 */
	@Nullable Failure awaitFailure() {
		return current().engine().world().awaitFailure(this.context.settings().timeouts().abort());
	}

	/** Slot of each rank of the current generation, by rank. */
	List<Integer> slots() {
		return current().formation().slots();
	}

	/** How this process came to be a member of the current generation. */
	FormationProtocol.Origin origin() {
		return current().origin();
	}

	private Formed current() {
		return Objects.requireNonNull(this.formed, "the group has not formed yet");
	}

	/**
	 * Whether a generation is forming: from the call of {@link #form} until the listeners
	 * know the next generation. Also {@code true} before the first and after a formation
	 * that failed.
	 */
	public boolean isForming() {
		return this.forming;
	}

	/** Whether processes wait to join, other than those that are left out for now. */
	public boolean joinersWait() {
		return !this.context.member().due().isEmpty();
	}

	/**
	 * Forms the next generation and closes the engine of the last one.
	 * @param broken the failure that broke the last generation, {@code null} if processes
	 * join or there was none
	 * @param returned whether the loop of this rank has returned, so that the job may be
	 * done elsewhere
	 * @return the engine of the next generation, {@code null} if the loops of all ranks
	 * have returned
	 * @throws io.tutti.engine.control.RendezvousException if this rank may not continue
	 * or the deadline passes
	 * @throws CollectiveException if more ranks were lost than allowed
	 */
	@Nullable Engine form(@Nullable CollectiveException broken, boolean returned) {
		requireOpen();
		long startNanos = System.nanoTime();
		this.forming = true;
		Formed last = this.formed;
		Set<String> dead = new HashSet<>();
		Set<String> silent = new HashSet<>();
		if (last != null) {
			Formation before = last.formation();
			List<Member> lost = (broken != null) ? lost(broken.failure(), before) : List.of();
			if (broken != null) {
				reportToAll(last.engine(), broken.failure());
				reportLoss(before, broken.failure());
				if (this.context.elastic().maxFailures() > 0
						&& ++this.failures > this.context.elastic().maxFailures()) {
					this.context.events()
						.warn("this rank has seen " + this.failures + " losses and ends: tutti.elastic.max-failures is "
								+ this.context.elastic().maxFailures());
					throw broken;
				}
			}
			this.context.member().formAgain((broken != null) ? broken.failure() : null);
			last.engine().closedByKernel().forEach((rank) -> dead.add(before.members().get(rank).id()));
			lost.forEach((other) -> silent.add(other.id()));
			silent.removeAll(dead);
			leave(last);
		}
		Formed next = new FormationProtocol(this.context, (slots) -> publish(new ElasticEvent.Awaiting(slots)), dead,
				silent, () -> returned || this.ending)
			.form(returned);
		if (next == null) {
			return null;
		}
		this.formed = next;
		if (this.closed) {
			next.engine().close();
			requireOpen();
		}
		publish(new ElasticEvent.Formed(next.formation().generation(), next.formation().slots(),
				Duration.ofNanos(System.nanoTime() - startNanos), last != null));
		this.forming = false;
		next.announced().run();
		return next.engine();
	}

	/**
	 * A failure of a subgroup after which this rank leaves all groups. The other ranks
	 * learn of it before they miss this one.
	 */
	private static void reportToAll(Engine engine, Failure broken) {
		if (engine.world().failure() == null) {
			engine.control()
				.report(new Failure(broken.kind(), Failure.WORLD, -1, null, broken.ranks(), broken.describe(),
						broken.elapsed(), broken.timeout()));
		}
	}

	/** What a generation could not release or send does not concern the next one. */
	private void leave(Formed last) {
		try {
			last.engine().close();
		}
		catch (RuntimeException ex) {
			this.context.events()
				.warn("generation " + last.formation().generation() + " did not end in order on this rank: " + ex);
		}
	}

	private void reportLoss(Formation broken, Failure failure) {
		this.reported = broken;
		publish(new ElasticEvent.Lost(broken.generation(), lost(failure, broken).stream().map(Member::slot).toList(),
				Instant.now(), broken.withSlots(failure)));
	}

	/**
	 * Warns of ranks that were lost when the loops of all had returned. A rank that is
	 * only late is not lost.
	 */
	void warnOfLostAtTheEnd(Failure failure) {
		Formation last = current().formation();
		List<String> lost = lost(failure, last).stream()
			.filter((member) -> !member.equals(this.context.member().self()))
			.map((member) -> last.nameOf(last.members().indexOf(member)))
			.toList();
		if (!lost.isEmpty()) {
			warn(String.join(", ", lost) + ((lost.size() == 1) ? " was" : " were")
					+ " lost after all loops had returned: the result is complete");
		}
	}

	/** Another rank has left a generation, which can no longer work. */
	private void fail(Formation left, int rank, Failure failure) {
		Formed current = this.formed;
		if (current != null && current.formation().equals(left)) {
			current.engine().control().fail(rank, failure);
		}
	}

	private static List<Member> lost(Failure failure, Formation before) {
		return (failure.kind() == Failure.Kind.PEER_LOST) ? failure.ranks()
			.stream()
			.filter((rank) -> rank >= 0 && rank < before.members().size())
			.map(before.members()::get)
			.toList() : List.of();
	}

	/**
	 * Lets the group form with fewer ranks than the minimum from now on: the job is to
	 * end, and the ranks that are left need a group to save its state.
	 */
	public void end() {
		this.ending = true;
	}

	private void requireOpen() {
		if (this.closed) {
			throw new IllegalStateException("this rank has left the group");
		}
	}

	/** The loops of all ranks have returned. Ranks that do not know it yet may ask. */
	void done() {
		this.context.member().enter(Phase.DONE);
	}

	/**
	 * Takes no part in further formations, so that the other members do not wait for this
	 * one. The engine of the last generation stays open. Reports a loss after which this
	 * rank does not form the group again.
	 */
	void leave() {
		Formed last = this.formed;
		Failure failure = (last != null) ? last.engine().world().failure() : null;
		if (last != null && failure != null && DefaultElasticGroup.continuesAfter(failure)
				&& !last.formation().equals(this.reported)) {
			reportLoss(last.formation(), failure);
		}
		this.context.member().leave();
		this.context.endpoint().close();
	}

	/** Whether this rank takes no part in further formations. */
	public boolean hasLeft() {
		return this.context.member().hasLeft();
	}

	/** Leaves the job. */
	@Override
	public void close() {
		this.closed = true;
		this.context.member().leave();
		Formed last = this.formed;
		try {
			if (last != null) {
				last.engine().close();
			}
		}
		finally {
			this.context.endpoint().close();
		}
	}

}
