package io.tutti.container;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.model.Capability;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job: containers on one network, with a token, one rank each. Closing it leaves no
 * container behind, and checks so. Every rank has a read-only root and no capability.
 */
final class RankContainers implements AutoCloseable {

	/** Where data goes, so that it can be told from the control plane. */
	static final int DATA_PORT = 29600;

	static final int RENDEZVOUS_PORT = 29500;

	private static final String LABEL = "io.tutti.job";

	private final String job = UUID.randomUUID().toString();

	private final String image;

	private final Network network;

	private final int worldSize;

	private final List<String> command;

	private final Map<String, String> environment = new HashMap<>();

	private final List<RankContainer> ranks = new ArrayList<>();

	RankContainers(String image, Network network, int worldSize, String... command) {
		this.image = image;
		this.network = network;
		this.worldSize = worldSize;
		this.command = List.of(command);
		with("MASTER_ADDR", master());
		with("WORLD_SIZE", String.valueOf(worldSize));
		with("LOCAL_RANK", "0");
		with("LOCAL_WORLD_SIZE", "1");
		with("TUTTI_SECURITY_TOKEN", this.job);
		with("TUTTI_RENDEZVOUS_BINDADDRESS", "0.0.0.0");
		with("TUTTI_TRANSPORT_PORT", String.valueOf(DATA_PORT));
		with("TUTTI_TIMEOUT_HEARTBEAT", "5s");
		with("TUTTI_TIMEOUT_ABORT", "2s");
		with("TUTTI_SERVE_LINGER", "0s");
		with("TUTTI_VECTORS", "false");
	}

	/** A variable of all ranks that are started from now on. */
	RankContainers with(String name, String value) {
		this.environment.put(name, value);
		return this;
	}

	/** Name of the first container of rank 0 on the network. */
	String master() {
		return "rank-0-" + this.job.substring(0, 8);
	}

	RankContainers startAll() {
		for (int rank = 0; rank < this.worldSize; rank++) {
			start(rank);
		}
		return this;
	}

	RankContainer start(int rank) {
		return start(rank, Map.of(), (command) -> {
		});
	}

	RankContainer start(int rank, Map<String, String> other, Consumer<CreateContainerCmd> modifier) {
		GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(this.image));
		container.withNetwork(this.network)
			.withEnv(this.environment)
			.withEnv("RANK", String.valueOf(rank))
			.withEnv(other)
			.withLabel(LABEL, this.job)
			.withCommand(this.command.toArray(String[]::new))
			.withTmpFs(Map.of("/tmp", "rw,size=64m"))
			.withStartupCheckStrategy(new Started())
			.withCreateContainerCmdModifier(
					(create) -> create.getHostConfig().withReadonlyRootfs(true).withCapDrop(Capability.ALL))
			.withCreateContainerCmdModifier(modifier);
		if (rank == 0 && this.ranks.isEmpty()) {
			container.withNetworkAliases(master());
		}
		container.start();
		RankContainer started = new RankContainer(container);
		this.ranks.add(started);
		return started;
	}

	RankContainer rank(int rank) {
		return this.ranks.get(rank);
	}

	List<RankContainer> all() {
		return this.ranks;
	}

	@Override
	public void close() {
		this.ranks.forEach(RankContainer::remove);
		assertThat(DockerClientFactory.lazyClient()
			.listContainersCmd()
			.withShowAll(true)
			.withLabelFilter(Map.of(LABEL, this.job))
			.exec()).isEmpty();
	}

	/** A rank may well end at once: that is for its test to judge. */
	private static final class Started extends StartupCheckStrategy {

		@Override
		public StartupStatus checkStartupState(com.github.dockerjava.api.DockerClient client, String containerId) {
			return StartupStatus.SUCCESSFUL;
		}

	}

}
