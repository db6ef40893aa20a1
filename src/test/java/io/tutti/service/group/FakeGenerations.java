package io.tutti.service.group;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import io.tutti.CollectiveListener;
import io.tutti.ElasticEvent;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;

import org.springframework.test.util.ReflectionTestUtils;

/**
 * The lifecycle of an elastic group whose generations a test forms and breaks.
 */
public final class FakeGenerations {

	private final GroupLifecycle lifecycle;

	private final Generations generations;

	/**
	 * Creates a group without a generation.
	 * @param slot the launcher's rank of this process
	 */
	public FakeGenerations(int slot, int worldSize) {
		List<Endpoint> endpoints = IntStream.range(0, worldSize)
			.mapToObj((rank) -> new Endpoint("a", 1 + rank))
			.toList();
		this.lifecycle = new GroupLifecycle(RankAssignment.onOneHost(slot, worldSize, 29500), EngineSettings.DEFAULTS,
				new FakeJoiner(), CollectiveListener.NONE,
				new ElasticSettings(1, Duration.ZERO, 0, QuorumRule.LIVE, endpoints));
		this.generations = Objects
			.requireNonNull((Generations) ReflectionTestUtils.getField(this.lifecycle, "generations"));
	}

	public GroupLifecycle lifecycle() {
		return this.lifecycle;
	}

	/** A generation has formed of the processes in these slots. */
	public void form(FakeGroup group, List<Integer> slots) {
		long generation = group.world().generation();
		this.generations.form(group, RankAssignment.onOneHost(group.world().rank(), slots.size(), 29500),
				new ElasticEvent.Formed(generation, slots, Duration.ofMillis(300), generation > 0));
	}

	/** The current generation has lost the processes in these slots. */
	public void lose(List<Integer> slots, Failure failure) {
		long generation = Objects.requireNonNull(this.generations.group()).world().generation();
		this.generations.lose(new ElasticEvent.Lost(generation, slots, Instant.EPOCH, failure));
	}

}
