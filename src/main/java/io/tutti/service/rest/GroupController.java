package io.tutti.service.rest;

import java.util.List;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.ArraySchema;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.ExampleObject;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import io.swagger.v3.oas.annotations.tags.Tag;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;

import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;

/**
 * Serves the state of the group and its peers, also after the group broke.
 */
@ApiController
@Tag(name = "group")
final class GroupController {

	private final GroupLifecycle group;

	private final EngineSettings settings;

	GroupController(GroupLifecycle group, EngineSettings settings) {
		this.group = group;
		this.settings = settings;
	}

	@Operation(operationId = "group", summary = "Returns the state of the group on this rank",
			description = "Available in every state: FORMING, READY, BROKEN and CLOSED.")
	@ApiResponse(responseCode = "503", description = "Too many requests wait")
	@ApiResponse(responseCode = "200", description = "State of the group",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					schema = @Schema(implementation = GroupView.class), examples = @ExampleObject(Examples.GROUP)))
	@GetMapping("/group")
	GroupView group() {
		return GroupView.of(this.group, this.settings.backend());
	}

	@Operation(operationId = "peers", summary = "Returns the state of each peer")
	@ApiResponse(responseCode = "200", description = "The other ranks",
			content = @Content(mediaType = MediaType.APPLICATION_JSON_VALUE,
					array = @ArraySchema(schema = @Schema(implementation = PeerView.class)),
					examples = @ExampleObject(Examples.PEERS)))
	@GetMapping("/group/peers")
	List<PeerView> peers() {
		JoinedGroup joined = this.group.requireJoined();
		String transport = joined.world().transport();
		return joined.control().peers().stream().map((peer) -> PeerView.of(peer, transport)).toList();
	}

	/**
	 * What this rank knows about another rank.
	 *
	 * @param rank the other rank
	 * @param state state of the other rank
	 * @param address host and port where it accepts data connections
	 * @param transport transport between the two ranks
	 * @param lastSeenMs milliseconds since it was last seen; absent if never
	 * @param roundTripMicros the last measured round trip, by rank 0 if neither rank is
	 * rank 0; absent if none was measured
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	record PeerView(int rank, PeerStatus.State state, String address, String transport, @Nullable Long lastSeenMs,
			@Nullable Long roundTripMicros) {

		static PeerView of(PeerStatus peer, String transport) {
			return new PeerView(peer.rank(), peer.state(), address(peer), transport, known(peer.lastSeenMillis()),
					known(peer.roundTripMicros()));
		}

		private static String address(PeerStatus peer) {
			return (peer.host().indexOf(':') < 0 ? peer.host() : "[" + peer.host() + "]") + ":" + peer.port();
		}

		private static @Nullable Long known(long value) {
			return (value >= 0) ? value : null;
		}

	}

}
