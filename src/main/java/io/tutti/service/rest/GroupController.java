package io.tutti.service.rest;

import java.util.List;

import io.tutti.engine.backend.EngineSettings;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.JoinedGroup;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Shows the group and its peers. A broken group can still be looked at.
 */
@RestController
@RequestMapping(path = Api.V1 + "/group", version = Api.VERSION)
final class GroupController {

	private final GroupLifecycle group;

	private final EngineSettings settings;

	GroupController(GroupLifecycle group, EngineSettings settings) {
		this.group = group;
		this.settings = settings;
	}

	@GetMapping
	GroupView group() {
		return GroupView.of(this.group.status(), this.group.assignment(), this.settings.backend(), this.group.joined());
	}

	@GetMapping("/peers")
	List<PeerView> peers() {
		JoinedGroup joined = this.group.joined();
		if (joined == null) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
		String transport = joined.world().transport();
		return joined.control().peers().stream().map((peer) -> PeerView.of(peer, transport)).toList();
	}

}
