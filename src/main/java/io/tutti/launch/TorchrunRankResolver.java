package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * Resolves ranks started by {@code torchrun} or by Tutti's own launcher, which sets the
 * same variables. Where torchrun's agent itself listens on {@code MASTER_PORT}, the
 * rendezvous uses another port at a fixed offset.
 */
final class TorchrunRankResolver extends RankResolver {

	private static final String AGENT_STORE = "TORCHELASTIC_USE_AGENT_STORE";

	TorchrunRankResolver() {
		super("torchrun", "RANK", "WORLD_SIZE");
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		return DeclaredLocalRank.read(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE", worldSize);
	}

	@Override
	int masterPort(Variables variables, int portOffset) {
		int port = super.masterPort(variables, portOffset);
		if (!"true".equalsIgnoreCase(variables.peek(AGENT_STORE))) {
			return port;
		}
		variables.text(AGENT_STORE);
		int adjacent = port + portOffset;
		if (adjacent > WholeNumber.MAX_PORT) {
			throw new ResolutionException(MASTER_PORT, Integer.toString(port),
					"a port of at most " + (WholeNumber.MAX_PORT - portOffset)
							+ ": torchrun's agent listens on it, and the rendezvous adds " + portOffset + " ("
							+ ResolutionSettings.PORT_OFFSET + ")");
		}
		variables.note("port " + port + " is in use by torchrun's agent (" + variables.show(AGENT_STORE)
				+ "): the rendezvous uses port " + adjacent);
		return adjacent;
	}

	@Override
	long generation(Variables variables) {
		Integer restarts = variables.number("TORCHELASTIC_RESTART_COUNT", 0, 999_999_999, "restarts so far");
		return (restarts != null) ? restarts : -1;
	}

	@Override
	@Nullable AgentVariables agent() {
		return new AgentVariables("GROUP_RANK", "GROUP_WORLD_SIZE");
	}

}
