package io.tutti.engine.elastic;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

import io.tutti.ElasticGroup;
import io.tutti.ElasticState;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;

/**
 * One rank of an elastic job as a process: adds the samples of each step, which its ranks
 * divide, and prints its steps and events. Ends after the given number of steps, or after
 * the step in which a rank finds the stop file. With a further argument, 4 ranks add in
 * the rows and then in the columns of a grid.
 */
public final class ElasticProcess implements ElasticState {

	/** Divides evenly among up to 5 ranks and not among 7. */
	static final int BATCH = 60;

	private volatile long step;

	private long sum;

	private final boolean grid;

	/** The groups in which a step adds, one after the other. */
	private List<ProcessGroup> groups = List.of();

	private ElasticProcess(boolean grid) {
		this.grid = grid;
	}

	public static void main(String[] arguments) {
		ExitCode.onUncaughtException();
		Thread.ofPlatform().daemon().start(ElasticProcess::endWithTheTest);
		long steps = Long.parseLong(arguments[0]);
		long pauseMillis = Long.parseLong(arguments[1]);
		Path stop = Path.of(arguments[2]);
		ElasticProcess state = new ElasticProcess(arguments.length > 3);
		try (ElasticGroup group = ElasticGroup.fromEnvironment()) {
			group.onEvent((event) -> say("event " + event));
			long sum = group.run(state, (ranks) -> state.loop(ranks, group, steps, pauseMillis, stop));
			say("sum " + sum);
		}
		System.exit(0);
	}

	/** The test holds the other end of the standard input. */
	public static void endWithTheTest() {
		try {
			System.in.transferTo(OutputStream.nullOutputStream());
		}
		catch (IOException ex) {
			// The test has ended.
		}
		Runtime.getRuntime().halt(3);
	}

	private long loop(ProcessGroup ranks, ElasticGroup group, long steps, long pauseMillis, Path stop)
			throws Exception {
		say("loop rank " + ranks.rank() + " of " + ranks.worldSize() + " generation " + ranks.generation() + " from "
				+ this.step);
		boolean stopped = false;
		while (this.step < steps && !stopped) {
			long[] part = { 0, Files.exists(stop) ? 1 : 0 };
			for (int sample = ranks.rank(); sample < BATCH; sample += ranks.worldSize()) {
				part[0] += this.step * BATCH + sample;
			}
			Thread.sleep(pauseMillis);
			this.groups.forEach((each) -> each.allReduce(part, ReduceOp.SUM));
			this.sum += part[0];
			stopped = part[1] > 0;
			this.step++;
			say("step " + this.step + " generation " + ranks.generation() + " at " + System.currentTimeMillis());
			group.commit();
		}
		return this.sum;
	}

	/** The sum of a run without failures. */
	public static long expected(long steps) {
		long samples = steps * BATCH;
		return samples * (samples - 1) / 2;
	}

	private static void say(String line) {
		System.out.println(line);
		System.out.flush();
	}

	@Override
	public long step() {
		return this.step;
	}

	@Override
	public void reset(ProcessGroup ranks) {
		boolean four = this.grid && ranks.worldSize() == 4;
		this.groups = four ? List.of(split(ranks, ranks.rank() / 2), split(ranks, ranks.rank() % 2)) : List.of(ranks);
	}

	private static ProcessGroup split(ProcessGroup ranks, int color) {
		return Objects.requireNonNull(ranks.split(color, ranks.rank()));
	}

	@Override
	public void rollback() {
		// A step changes the state only after its collective.
	}

	@Override
	public void synchronize(ProcessGroup group, int source) {
		long[] all = { this.step, this.sum };
		group.broadcast(all, source);
		this.step = all[0];
		this.sum = all[1];
	}

	@Override
	public byte[] digest() {
		return ByteBuffer.allocate(16).putLong(this.step).putLong(this.sum).array();
	}

}
