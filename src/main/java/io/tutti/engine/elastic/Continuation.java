package io.tutti.engine.elastic;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import io.tutti.engine.elastic.FormationEndpoint.Answer;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Join;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationMessage.Phase;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Whether the members that take part in a formation may continue their base without the
 * others. They need a {@link Quorum} of the base, and of each later formation that one of
 * them has accepted, since that one may have formed, unless nobody else in it holds the
 * state.
 *
 * @param joins the requests of the members that take part, including the leader
 * @param answers the answers of the other slots
 * @param hasEnded whether an answer shows that the process of a member has ended
 */
record Continuation(Formation base, List<Join> joins, Map<Integer, Answer> answers, ElasticSettings elastic,
		BiPredicate<Member, Answer> hasEnded) {

	/** What is known of a member of some generation. */
	enum Fate {

		/** It takes part. */
		PRESENT,
		/** Its process answers, and has not begun to form. */
		ALIVE,
		/**
		 * Its process answers and forms, maybe with ranks that this one does not reach.
		 */
		FORMING,
		/**
		 * The kernel closed its control connection in the base: it died before it could
		 * take part in a later formation.
		 */
		DIED,
		/** Its process has ended, maybe after it took part in a later formation. */
		GONE,
		/** It may be alive. */
		SILENT

	}

	/** The slots of the base whose member has a fate. */
	List<Integer> slots(BiPredicate<Member, Fate> fate) {
		return slots(this.base, fate);
	}

	/** The slots of a generation whose member has a fate. */
	List<Integer> slots(Formation formation, BiPredicate<Member, Fate> fate) {
		return formation.members()
			.stream()
			.filter((member) -> fate.test(member, fate(member)))
			.map(Member::slot)
			.toList();
	}

	private Fate fate(Member member) {
		Answer answer = this.answers.getOrDefault(member.slot(), new Answer.Silent());
		if (this.joins.stream().anyMatch((join) -> join.member().equals(member))) {
			return Fate.PRESENT;
		}
		if (answer instanceof Answer.Alive(var status) && status.member().equals(member)) {
			return (status.phase() == Phase.FORMING) ? Fate.FORMING : Fate.ALIVE;
		}
		if (this.joins.stream()
			.anyMatch((join) -> this.base.equals(join.base()) && join.dead().contains(member.id()))) {
			return Fate.DIED;
		}
		return (present().contains(member.slot()) || this.hasEnded.test(member, answer)) ? Fate.GONE : Fate.SILENT;
	}

	/** The slots of the members that take part. */
	Set<Integer> present() {
		return present(this.joins);
	}

	static Set<Integer> present(List<Join> joins) {
		return joins.stream().map((join) -> join.member().slot()).collect(Collectors.toCollection(TreeSet::new));
	}

	/** A generation without a quorum, {@code null} if the members may continue. */
	@Nullable Formation withoutQuorum() {
		Stream<Formation> later = this.joins.stream()
			.flatMap((join) -> join.accepted().stream())
			.filter((formation) -> formation.generation() > this.base.generation() && mayContinueElsewhere(formation));
		boolean everySlotIsKnown = unknown().isEmpty();
		return Stream.concat(Stream.of(this.base), later)
			.filter((formation) -> !Quorum.continues(formation.slots(),
					slots(formation, (_, fate) -> fate == Fate.PRESENT),
					slots(formation, (_, fate) -> fate == Fate.DIED || (fate == Fate.GONE && everySlotIsKnown)),
					this.elastic.quorum()))
			.findFirst()
			.orElse(null);
	}

	/**
	 * Whether a formation that a present member has accepted, and has not formed, may
	 * continue elsewhere. No process has received the state in it, since that takes all
	 * of its members. So it does not continue without those of its members that are in
	 * the base, if these are present.
	 */
	private boolean mayContinueElsewhere(Formation accepted) {
		List<Member> holders = this.base.members().stream().filter(accepted.members()::contains).toList();
		return holders.isEmpty() || holders.stream().anyMatch((member) -> fate(member) != Fate.PRESENT);
	}

	/** The slots of a generation whose member answers and has not begun to form. */
	List<Integer> alive(Formation formation) {
		return slots(formation, (_, fate) -> fate == Fate.ALIVE);
	}

	/** The slots of a generation whose process has ended and that count nevertheless. */
	List<Integer> countedAfterTheirEnd(Formation formation) {
		return (this.elastic.quorum() == QuorumRule.STRICT)
				? slots(formation, (_, fate) -> fate == Fate.DIED || fate == Fate.GONE) : List.of();
	}

	/** The slots that prevent a quorum of a generation: a member may be alive there. */
	List<Integer> silence(Formation formation) {
		List<Integer> silent = slots(formation, (_, fate) -> fate == Fate.SILENT);
		return silent.isEmpty() ? unknown() : silent;
	}

	/**
	 * The slots where a member of a later formation may be alive: they do not answer, or
	 * refuse connections elsewhere than at the address of the member of the base. Without
	 * such slots a process that has ended leaves the count.
	 */
	private List<Integer> unknown() {
		Set<Integer> present = present();
		return GroupIdentity.ranksWhere(this.elastic.maxRanks(), (slot) -> !present.contains(slot)
				&& !isKnown(slot, this.answers.getOrDefault(slot, new Answer.Silent())));
	}

	private boolean isKnown(int slot, Answer answer) {
		return switch (answer) {
			case Answer.Alive _ -> true;
			case Answer.Silent _ -> false;
			case Answer.Refused _ -> this.base.members()
				.stream()
				.allMatch((member) -> member.slot() != slot || this.hasEnded.test(member, answer));
		};
	}

}
