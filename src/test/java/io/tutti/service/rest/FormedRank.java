package io.tutti.service.rest;

import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupJoiner;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/**
 * Rank 1 of 3 in a group that has formed.
 */
@TestConfiguration
class FormedRank {

	static final String RANK = "tutti.rank=1";

	static final String WORLD_SIZE = "tutti.world-size=3";

	@Bean
	FakeGroup fakeGroup() {
		FakeGroup group = new FakeGroup(1, 3, 4);
		group.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.UP));
		group.addPeer(new PeerStatus(2, "fd00::2", 42000, -1, -1, PeerStatus.State.LOST));
		return group;
	}

	@Bean
	@Primary
	GroupJoiner fakeMeeting(FakeGroup group) {
		return FakeJoiner.of(group);
	}

}
