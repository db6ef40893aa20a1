package io.tutti.launch;

import io.tutti.engine.RankAssignment;
import org.jspecify.annotations.Nullable;

/**
 * The variables in which one launcher passes a process its rank. A set is used if its
 * rank variable is present; it must then be complete. Values of the selected set are
 * validated. A resolver keeps no state.
 */
interface RankResolver {

	/** The variable of the rendezvous host that launchers share. */
	String MASTER_ADDR = "MASTER_ADDR";

	/** The variable of the rendezvous port that launchers share. */
	String MASTER_PORT = "MASTER_PORT";

	/** Name of the launcher, for display. */
	String source();

	/** The variable whose presence selects the set. */
	String rankVariable();

	/** The variable of the world size, which must accompany the rank. */
	String worldSizeVariable(Variables variables);

	/** Why the set is ignored although its rank is present, {@code null} if it is not. */
	default @Nullable String disregarded(Variables variables) {
		return null;
	}

	/** The local rank and local world size that the launcher gives. */
	DeclaredLocalRank local(Variables variables, int rank, int worldSize);

	/** Host of the rendezvous, {@code null} if the set names none. */
	default @Nullable String masterAddress(Variables variables) {
		return variables.host(MASTER_ADDR);
	}

	/** Port of the rendezvous. */
	default int masterPort(Variables variables, int portOffset) {
		Integer port = variables.port(MASTER_PORT);
		return (port != null) ? port : RankAssignment.DEFAULT_MASTER_PORT;
	}

	/** How a user of this launcher sets the rendezvous host. */
	default String masterAddressAdvice() {
		return "export MASTER_ADDR=HOST_OF_RANK_0";
	}

	/** Generation of the group, -1 if the launcher does not give it. */
	default long generation(Variables variables) {
		return -1;
	}

	/**
	 * The variables of the agent that started this rank, {@code null} if the set has
	 * none. An outer launcher that starts only agents numbers the agents, not the ranks.
	 */
	default @Nullable AgentVariables agent() {
		return null;
	}

	/**
	 * Names of the variables of an agent that starts ranks.
	 *
	 * @param rank variable of the agent's index
	 * @param worldSize variable of the number of agents
	 */
	record AgentVariables(String rank, String worldSize) {
	}

}
