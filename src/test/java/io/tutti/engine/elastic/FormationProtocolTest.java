package io.tutti.engine.elastic;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Member;
import io.tutti.engine.elastic.FormationProtocol.Formed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Members of one process that do not reach each other at every time.
 */
@Timeout(60)
class FormationProtocolTest {

	private final List<Party> parties = new ArrayList<>();

	/** One member with its endpoint. Members reach slot 0 only when it is visible. */
	private static final class Party {

		private final ElasticMembers ranks;

		private final LocalMember member;

		private final FormationEndpoint endpoint;

		private final CompletableFuture<Formed> formed = new CompletableFuture<>();

		private final CountDownLatch awaits = new CountDownLatch(1);

		private volatile boolean seesFirst = true;

		Party(ElasticMembers ranks, Member self) {
			this.ranks = ranks;
			this.member = new LocalMember(self);
			List<ElasticSettings.Endpoint> endpoints = new ArrayList<>(ranks.elastic().endpoints());
			if (self.slot() != 0) {
				endpoints.set(0, new ElasticSettings.Endpoint("first", endpoints.getFirst().port()));
			}
			this.endpoint = FormationEndpoint.open(this.member, ranks.settings(), endpoints, this::addresses);
		}

		private InetAddress[] addresses(String host) throws UnknownHostException {
			if (host.equals("first") && !this.seesFirst) {
				throw new UnknownHostException(host);
			}
			return new InetAddress[] { InetAddress.getLoopbackAddress() };
		}

		void form(int awaited) {
			int slot = this.member.self().slot();
			FormationProtocol protocol = new FormationProtocol(this.member, this.endpoint, this.ranks.elastic(),
					this.ranks.settings(), RankAssignment.onOneHost(slot, slot + 1, 29500), CollectiveListener.NONE,
					(slots) -> {
						if (slots.equals(List.of(awaited))) {
							this.awaits.countDown();
						}
					}, Set.of(), Set.of(), () -> false);
			Thread.ofPlatform().daemon().start(() -> {
				try {
					this.formed.complete(protocol.form(false));
				}
				catch (Throwable ex) {
					this.formed.completeExceptionally(ex);
				}
			});
		}

		boolean awaits() throws InterruptedException {
			return this.awaits.await(20, TimeUnit.SECONDS);
		}

	}

	private Party party(ElasticMembers ranks, Member self) {
		Party party = new Party(ranks, self);
		this.parties.add(party);
		return party;
	}

	@AfterEach
	void close() {
		for (Party party : this.parties) {
			party.member.leave();
			party.formed.thenAccept((formed) -> formed.engine().close());
			party.endpoint.close();
		}
	}

	@Test
	void aLeaderFollowsALowerMemberThatAnswersLater() throws Exception {
		ElasticMembers ranks = new ElasticMembers(2, 2, 1);
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(1, "a1", "host"));
		Party first = party(ranks, members.getFirst());
		Party second = party(ranks, members.getLast());
		for (Party party : this.parties) {
			party.member.formed(new Formation(0, "f0", members));
			party.member.formAgain(null);
		}
		second.seesFirst = false;
		second.form(0);
		assertThat(second.awaits()).isTrue();
		first.form(1);
		assertThat(first.awaits()).isTrue();
		second.seesFirst = true;
		for (Party party : this.parties) {
			assertThat(party.formed.get().formation().slots()).containsExactly(0, 1);
		}
	}

	@Test
	void aProcessThatReachesOnlyAnotherRankThanTheFirstDoesNotDisturbTheGroup() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1, Duration.ofSeconds(3));
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(2, "a2", "host"));
		for (Member each : members) {
			party(ranks, each).member.formed(new Formation(0, "f0", members));
		}
		Party joining = party(ranks, new Member(1, "b1", "host"));
		joining.seesFirst = false;
		joining.form(0);
		assertThat(joining.awaits()).isTrue();
		assertThatThrownBy(joining.formed::get).isInstanceOf(ExecutionException.class)
			.cause()
			.isInstanceOf(RendezvousException.class)
			.hasMessageContaining("awaited ranks: [0]");
		assertThat(this.parties.get(1).member.requests()).isEmpty();
	}

	@Test
	void requestsToARankThatDoesNotLeadEndWhenItsGroupForms() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		List<Member> members = List.of(new Member(0, "a0", "host"), new Member(2, "a2", "host"));
		Party last = party(ranks, members.getLast());
		Party joining = party(ranks, new Member(1, "b1", "host"));
		try (FormationLink link = joining.endpoint.connect(2, Duration.ofSeconds(5))) {
			link.send(joining.member.join(Set.of()));
			assertThat(link.receive(() -> {
			})).isInstanceOf(FormationMessage.Wait.class);
			last.member.formed(new Formation(0, "f0", members));
			assertThat(last.member.requests()).isEmpty();
		}
	}

	/**
	 * A process that joins with a lower slot than the leader's is rank 0 of the next
	 * generation. The leader still has to tell the others that it has joined.
	 */
	@Test
	void aLeaderThatHasJoinedKeepsTheConnectionsToTheMembersOfItsGroup() throws Exception {
		ElasticMembers ranks = new ElasticMembers(3, 3, 1);
		Party leader = party(ranks, new Member(1, "a1", "host"));
		Party joining = party(ranks, new Member(0, "b0", "host"));
		try (FormationLink link = joining.endpoint.connect(1, Duration.ofSeconds(5))) {
			link.send(joining.member.join(Set.of()));
			assertThat(link.receive(() -> {
			})).isInstanceOf(FormationMessage.Wait.class);
			List<LocalMember.Request> requests = leader.member.requests();
			leader.member.formed(new Formation(4, "f4", List.of(joining.member.self(), leader.member.self())));
			assertThat(leader.member.requests()).isEqualTo(requests).hasSize(1);
			assertThat(leader.member.anyLost(requests, "f4")).isFalse();
		}
	}

}
