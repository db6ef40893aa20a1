package io.tutti.engine.backend;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.hierarchical.HierarchicalAlgorithms;
import io.tutti.engine.algorithm.hierarchical.Hosts;
import io.tutti.engine.algorithm.hierarchical.Level;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.Backend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Ranks on several hosts, some of whom share one: collectives on two levels where there
 * is such a way, and between all ranks alike otherwise. What fails on one level fails
 * everywhere, since all share the group's latch.
 */
final class HierarchicalBackend implements Backend {

	private final Backend flat;

	private final @Nullable Backend within;

	private final @Nullable Backend across;

	private final HierarchicalAlgorithms algorithms;

	/**
	 * A backend that owns those it is given.
	 * @param flat among all ranks
	 * @param within among the ranks of this host, {@code null} if there is one
	 * @param across among the ranks of {@link Hosts#across}, {@code null} if this rank is
	 * not among them
	 */
	HierarchicalBackend(GroupIdentity identity, Hosts hosts, Backend flat, @Nullable Backend within,
			@Nullable Backend across, ReductionKernels kernels) {
		this.flat = flat;
		this.within = within;
		this.across = across;
		this.algorithms = new HierarchicalAlgorithms(hosts, identity.rank(), level(within), level(across), kernels);
	}

	private static Level level(@Nullable Backend backend) {
		return (backend != null) ? backend::run : Level.ALONE;
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
		Algorithm algorithm = this.algorithms.select(call);
		if (algorithm != null) {
			call.by("hierarchical");
			algorithm.run(call);
		}
		else {
			this.flat.run(call);
		}
	}

	@Override
	public void wake() {
		this.flat.wake();
		if (this.within != null) {
			this.within.wake();
		}
		if (this.across != null) {
			this.across.wake();
		}
	}

	@Override
	public void close() {
		if (this.across != null) {
			this.across.close();
		}
		if (this.within != null) {
			this.within.close();
		}
		this.flat.close();
		this.algorithms.close();
	}

}
