package io.tutti.engine.backend;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.hierarchical.HierarchicalAlgorithms;
import io.tutti.engine.algorithm.hierarchical.Hosts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * For ranks on several hosts of which some share a host: uses a two-level algorithm if
 * there is one for the collective, and a flat one otherwise. A failure on one level fails
 * the group, since all levels share the group's latch.
 */
final class HierarchicalGroupBackend implements GroupBackend {

	private final GroupBackend flat;

	private final @Nullable GroupBackend within;

	/** In the order in which they are closed. */
	private final List<GroupBackend> levels;

	private final HierarchicalAlgorithms algorithms;

	/**
	 * A backend that owns the given backends.
	 * @param flat for all ranks
	 * @param within for the ranks of this host, {@code null} if this rank is alone there
	 * @param across for the ranks of {@link Hosts#across}, {@code null} if this rank is
	 * not among them
	 */
	HierarchicalGroupBackend(GroupIdentity identity, Hosts hosts, GroupBackend flat, @Nullable GroupBackend within,
			@Nullable GroupBackend across, ReductionKernels kernels) {
		this.flat = flat;
		this.within = within;
		this.levels = Stream.of(across, within, flat).filter(Objects::nonNull).toList();
		this.algorithms = new HierarchicalAlgorithms(hosts, identity.rank(), level(within), level(across), kernels);
	}

	private static Algorithm level(@Nullable GroupBackend backend) {
		return (backend != null) ? backend::run : HierarchicalAlgorithms.ALONE;
	}

	@Override
	public String name() {
		return this.flat.name();
	}

	@Override
	public String transport() {
		return (this.within != null) ? this.within.transport() + "+" + this.flat.transport() : this.flat.transport();
	}

	@Override
	public void run(Call call) {
		if (this.algorithms.supports(call)) {
			call.algorithm("hierarchical");
			this.algorithms.run(call);
		}
		else {
			this.flat.run(call);
		}
	}

	@Override
	public void wake() {
		this.levels.forEach(GroupBackend::wake);
	}

	@Override
	public void close() {
		List<Runnable> levels = this.levels.stream().<Runnable>map((level) -> level::close).toList();
		CleanUp.runAll(List.of(() -> CleanUp.runAll(levels), this.algorithms::close));
	}

}
