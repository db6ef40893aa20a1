package io.tutti.service.command;

import java.util.List;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.benchmark.BenchmarkOptions;
import io.tutti.benchmark.peer.Peer;
import picocli.CommandLine.Option;

/**
 * Options of a benchmark against other systems.
 */
final class AgainstOptions {

	private static final int MAX_ROUNDS = 100;

	@Option(names = "--against", paramLabel = "PEERS", defaultValue = "",
			description = "Also run these peers, if installed, and print the ratios: openmpi,mpich and, with"
					+ " --transport tcp, gloo.")
	private String against = "";

	@Option(names = "--interleave", paramLabel = "ROUNDS", defaultValue = "1",
			description = "With --against: number of interleaved rounds; prints their medians (default: ${DEFAULT-VALUE}).")
	private int rounds = 1;

	/** Number of rounds in which each system is measured once. */
	int rounds() {
		return this.rounds;
	}

	/**
	 * The systems to compare with, empty without {@code --against}.
	 * @throws IllegalArgumentException if the options cannot be compared
	 */
	List<Peer> peers(BenchmarkOptions options) {
		if (this.rounds < 1 || this.rounds > MAX_ROUNDS) {
			throw new IllegalArgumentException("--interleave must be in 1.." + MAX_ROUNDS + ", got " + this.rounds);
		}
		if (this.against.isEmpty()) {
			if (this.rounds > 1) {
				throw new IllegalArgumentException("--interleave " + this.rounds + " needs --against");
			}
			return List.of();
		}
		if (options.type() != DataType.FLOAT32 || options.op() != ReduceOp.SUM) {
			throw new IllegalArgumentException("--against compares sums of float32 only, got --dtype "
					+ options.type().label() + " --op " + options.op().label());
		}
		return Peer.parse(this.against);
	}

}
