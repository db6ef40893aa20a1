package io.tutti.container;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.Volume;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.lifecycle.Startables;
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

	private static final int FORMATION_PORT = 29700;

	private static final Consumer<CreateContainerCmd> AS_IT_IS = (_) -> {
	};

	private static final String LABEL = "io.tutti.job";

	private final String job = UUID.randomUUID().toString();

	private final String image;

	private final Network network;

	private final int worldSize;

	private final List<String> command;

	private final Map<String, String> environment = new HashMap<>();

	private final List<Bind> volumes = new ArrayList<>();

	private final List<RankContainer> ranks = new ArrayList<>();

	private final List<GenericContainer<?>> addressHolders = new ArrayList<>();

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
		with("TUTTI_TIMEOUT_ABORT", "2s");
		with("TUTTI_SERVE_LINGER", "0s");
		with("TUTTI_VECTORS", "false");
		// The ranks end before the optimizing compiler pays off.
		with("TUTTI_JAVA_OPTS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xmn48m");
	}

	/** A variable of all ranks that are started from now on. */
	RankContainers with(String name, String value) {
		this.environment.put(name, value);
		return this;
	}

	/** A read-only volume of all ranks that are started from now on. */
	RankContainers withVolume(Path folder, String target) {
		this.volumes.add(new Bind(folder.toString(), new Volume(target), AccessMode.ro));
		return this;
	}

	/** The job continues with this number of ranks. */
	RankContainers elastic(int minRanks) {
		with("TUTTI_ELASTIC_ENDPOINTS",
				IntStream.range(0, this.worldSize)
					.mapToObj((rank) -> name(rank) + ":" + FORMATION_PORT)
					.collect(Collectors.joining(",")));
		return with("TUTTI_ELASTIC_MINRANKS", String.valueOf(minRanks));
	}

	/** Name of rank 0 on the network. */
	String master() {
		return name(0);
	}

	private String name(int rank) {
		return "rank-" + rank + "-" + this.job.substring(0, 8);
	}

	RankContainers startAll() {
		List<GenericContainer<?>> all = new ArrayList<>();
		for (int rank = 0; rank < this.worldSize; rank++) {
			GenericContainer<?> container = container(rank, Map.of(), AS_IT_IS).withNetworkAliases(name(rank));
			all.add(container);
			this.ranks.add(new RankContainer(container, this::outputs));
		}
		Startables.deepStart(all).join();
		return this;
	}

	/**
	 * Starts all ranks and waits until rank 0 has printed the text, or closes the job.
	 */
	RankContainers startAllUntil(String text, Duration limit) {
		try {
			startAll().rank(0).awaitOutput(text, limit);
			return this;
		}
		catch (RuntimeException | Error ex) {
			close();
			throw ex;
		}
	}

	/** Starts a container for a rank that has none yet or, without its name, one more. */
	RankContainer start(int rank) {
		return start(rank, Map.of(), AS_IT_IS);
	}

	RankContainer start(int rank, Map<String, String> other, Consumer<CreateContainerCmd> modifier) {
		GenericContainer<?> container = container(rank, other, modifier);
		if (rank == this.ranks.size()) {
			container.withNetworkAliases(name(rank));
		}
		container.start();
		RankContainer started = new RankContainer(container, this::outputs);
		this.ranks.add(started);
		return started;
	}

	/**
	 * Puts a new container with the same name in the place of a rank's. Another container
	 * keeps the old address, so that the new one has another, as in a cluster.
	 */
	void replace(int rank) {
		this.ranks.get(rank).remove();
		GenericContainer<?> holder = container(rank, Map.of(), (command) -> command.withEntrypoint("sleep", "600"));
		holder.withCommand(new String[0]).start();
		this.addressHolders.add(holder);
		GenericContainer<?> container = container(rank, Map.of(), AS_IT_IS).withNetworkAliases(name(rank));
		this.ranks.set(rank, new RankContainer(container, this::outputs));
		container.start();
	}

	private GenericContainer<?> container(int rank, Map<String, String> other, Consumer<CreateContainerCmd> modifier) {
		GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(this.image));
		container.withNetwork(this.network)
			.withEnv(this.environment)
			.withEnv("RANK", String.valueOf(rank))
			.withEnv(other)
			.withLabel(LABEL, this.job)
			.withCommand(this.command.toArray(String[]::new))
			.withTmpFs(Map.of("/tmp", "rw,size=64m"))
			.withStartupCheckStrategy(new Started())
			.withCreateContainerCmdModifier((create) -> create.getHostConfig()
				.withReadonlyRootfs(true)
				.withCapDrop(Capability.ALL)
				.withBinds(this.volumes))
			.withCreateContainerCmdModifier(modifier);
		return container;
	}

	RankContainer rank(int rank) {
		return this.ranks.get(rank);
	}

	List<RankContainer> all() {
		return this.ranks;
	}

	private String outputs() {
		return this.ranks.stream().map(RankContainer::output).collect(Collectors.joining("\n--- next rank ---\n"));
	}

	@Override
	public void close() {
		this.ranks.forEach(RankContainer::remove);
		this.addressHolders.forEach(GenericContainer::stop);
		assertThat(DockerClientFactory.lazyClient()
			.listContainersCmd()
			.withShowAll(true)
			.withLabelFilter(Map.of(LABEL, this.job))
			.exec()).isEmpty();
	}

	/**
	 * A rank may well end at once: that is for its test to judge. Testcontainers itself
	 * checks one container in a second.
	 */
	private static final class Started extends StartupCheckStrategy {

		@Override
		public boolean waitUntilStartupSuccessful(DockerClient client, String containerId) {
			return true;
		}

		@Override
		public StartupStatus checkStartupState(DockerClient client, String containerId) {
			return StartupStatus.SUCCESSFUL;
		}

	}

}
