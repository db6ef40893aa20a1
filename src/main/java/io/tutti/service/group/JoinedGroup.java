package io.tutti.service.group;

import java.util.function.Consumer;

import io.tutti.engine.ProcessGroup;
import io.tutti.engine.rendezvous.ControlPlane;

/**
 * A group that has formed, with this rank in it.
 */
public interface JoinedGroup extends AutoCloseable {

	/** The group that holds every rank. */
	ProcessGroup world();

	/** The control plane. */
	ControlPlane control();

	/** Who hears, with the reason, that some rank asked the whole group to stop. */
	void onDrain(Consumer<String> listener);

	/** Leaves the group and gives everything back. */
	@Override
	void close();

}
