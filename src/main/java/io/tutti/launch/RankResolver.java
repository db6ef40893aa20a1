package io.tutti.launch;

import io.tutti.engine.RankAssignment;
import org.jspecify.annotations.Nullable;

/**
 * The variables in which one launcher passes a process its rank. A set is used if its
 * rank variable is present; it must then be complete. Values of the selected set are
 * validated.
 */
class RankResolver {

	/** The variable of the rendezvous host that launchers share. */
	static final String MASTER_ADDR = "MASTER_ADDR";

	/** The variable of the rendezvous port that launchers share. */
	static final String MASTER_PORT = "MASTER_PORT";

	private final String source;

	private final String rankVariable;

	private final String worldSizeVariable;

	/** A set without anything but a rank and a world size. */
	RankResolver(String source, String rankVariable, String worldSizeVariable) {
		this.source = source;
		this.rankVariable = rankVariable;
		this.worldSizeVariable = worldSizeVariable;
	}

	/** Name of the launcher, for display. */
	final String source() {
		return this.source;
	}

	/** The variable whose presence selects the set. */
	final String rankVariable() {
		return this.rankVariable;
	}

	/** The variable of the world size, which must accompany the rank. */
	String worldSizeVariable(Variables variables) {
		return this.worldSizeVariable;
	}

	/** Why the set is ignored although its rank is present, {@code null} if it is not. */
	@Nullable String disregarded(Variables variables) {
		return null;
	}

	/** The local rank and local world size that the launcher gives. */
	DeclaredLocalRank local(Variables variables, int worldSize) {
		return DeclaredLocalRank.UNKNOWN;
	}

	/** Host of the rendezvous, {@code null} if the set names none. */
	@Nullable String masterAddress(Variables variables) {
		return variables.host(MASTER_ADDR);
	}

	/** Port of the rendezvous. */
	int masterPort(Variables variables, int portOffset) {
		Integer port = variables.port(MASTER_PORT);
		return (port != null) ? port : RankAssignment.DEFAULT_MASTER_PORT;
	}

	/** How a user of this launcher sets the rendezvous host. */
	String masterAddressAdvice() {
		return "export MASTER_ADDR=HOST_OF_RANK_0";
	}

	/** Generation of the group, -1 if the launcher does not give it. */
	long generation(Variables variables) {
		return -1;
	}

	/**
	 * The variables of the agent that started this rank, {@code null} if the set has
	 * none. An outer launcher that starts only agents numbers the agents, not the ranks.
	 */
	@Nullable AgentVariables agent() {
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
