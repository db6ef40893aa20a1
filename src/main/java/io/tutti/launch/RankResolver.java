package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * The variables by which one launcher tells a process who it is. A set counts when its
 * rank variable is present; then it must be whole. What is read through a resolver of the
 * winning set is checked; a resolver keeps no state.
 */
interface RankResolver {

	/** Name of the launcher, as people read it. */
	String source();

	/** The variable whose presence decides. */
	String rankVariable();

	/** The variable that must come with it. */
	String worldSizeVariable(Variables variables);

	/** Why the set does not count although its rank is there; {@code null} if it does. */
	default @Nullable String disregarded(Variables variables) {
		return null;
	}

	/** What the launcher says of this process's place on its host. */
	LocalClaim local(Variables variables, int rank, int worldSize);

	/** Host of the meeting point, {@code null} if the set names none. */
	default @Nullable String masterAddress(Variables variables) {
		return variables.host(RendezvousEndpoint.ADDRESS_VARIABLE);
	}

	/** Port of the meeting point. */
	default int masterPort(Variables variables, int portOffset) {
		Integer port = variables.port(RendezvousEndpoint.PORT_VARIABLE);
		return (port != null) ? port : RendezvousEndpoint.DEFAULT_PORT;
	}

	/** How a user of this launcher names the meeting point. */
	default String masterAddressAdvice() {
		return "export MASTER_ADDR=HOST_OF_RANK_0";
	}

	/** Which forming of the group this is, -1 if the launcher does not say. */
	default long generation(Variables variables) {
		return -1;
	}

	/**
	 * The set's name for the group of ranks that one agent started, where it has one: an
	 * outer launcher that started only the agents speaks of those.
	 */
	default @Nullable AgentVariables agent() {
		return null;
	}

	/**
	 * Variables of an agent that starts ranks.
	 *
	 * @param rank which agent
	 * @param worldSize how many agents
	 */
	record AgentVariables(String rank, String worldSize) {
	}

}
