package io.tutti.launch;

import org.jspecify.annotations.Nullable;

/**
 * Resolves Kubeflow's {@code PET_*} variables, which are meant for a torchrun in each
 * pod. Without torchrun, each pod is one process and one rank.
 */
final class KubeflowRankResolver extends RankResolver {

	private static final String PROCESSES_PER_POD = "PET_NPROC_PER_NODE";

	KubeflowRankResolver() {
		super("kubeflow", "PET_NODE_RANK", "PET_NNODES");
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		String processes = variables.peek(PROCESSES_PER_POD);
		if (processes != null && !processes.equals("1")) {
			variables.note(variables.show(PROCESSES_PER_POD) + " ignored: each pod is one rank");
		}
		return DeclaredLocalRank.ALONE;
	}

	@Override
	@Nullable String masterAddress(Variables variables) {
		String address = variables.host("PET_MASTER_ADDR");
		return (address != null) ? address : super.masterAddress(variables);
	}

	@Override
	int masterPort(Variables variables, int portOffset) {
		Integer port = variables.port("PET_MASTER_PORT");
		return (port != null) ? port : super.masterPort(variables, portOffset);
	}

	@Override
	String masterAddressAdvice() {
		return "export PET_MASTER_ADDR=HOST_OF_RANK_0";
	}

}
