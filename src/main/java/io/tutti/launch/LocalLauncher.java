package io.tutti.launch;

import java.io.IOException;

import io.tutti.ExitCode;
import org.jspecify.annotations.Nullable;

/**
 * Starts the ranks of this machine with torchrun's environment variables, relays their
 * output and exits when they have ended. After a failure the whole group ends, and
 * restarts if the plan allows it. Services continue without the lost rank. An elastic job
 * continues too, and its lost ranks are restarted one by one.
 */
public final class LocalLauncher {

	private final LaunchPlan plan;

	private final LaunchTimings timings;

	private final LaunchConsole console;

	private final RankEnvironment environment;

	private final Object lock = new Object();

	private @Nullable RankGroup group;

	private boolean stopped;

	public LocalLauncher(LaunchPlan plan, LaunchTimings timings, LaunchConsole console) {
		this.plan = plan;
		this.timings = timings;
		this.console = console;
		this.environment = new RankEnvironment(plan, console.showsLiveLines());
	}

	/**
	 * Runs until the last rank has ended.
	 * @return 0, or the exit code of the first rank to fail (128 + signal if a signal
	 * ended it); of an elastic job that of the rank whose failure ended the job; 70 if no
	 * rank has failed but their output could not be written
	 * @throws IOException if the program cannot be started
	 * @throws InterruptedException if the calling thread is interrupted; no rank is left
	 * running
	 */
	public int run() throws IOException, InterruptedException {
		int code = runGroups();
		String problem = this.console.problem();
		if (code != ExitCode.DONE || problem == null) {
			return code;
		}
		this.console.say("the output of the ranks is incomplete: " + problem);
		return ExitCode.INTERNAL;
	}

	private int runGroups() throws IOException, InterruptedException {
		for (int restart = 0;; restart++) {
			GroupExit end = runGroup(restart);
			RankExit failure = end.firstFailure();
			if (failure == null) {
				return end.exitCode();
			}
			if (this.plan.command().stoppedOnRequest(failure)) {
				this.console.say(end.describeStop());
				return end.exitCode();
			}
			boolean again = this.plan.elastic() == null && restart < this.plan.maxRestarts() && !end.stopped()
					&& failure.restartMayHelp();
			this.console.say(end.describe(failure) + (again
					? "; restarting the group (" + (restart + 1) + " of " + this.plan.maxRestarts() + ")" : ""));
			if (!again) {
				return end.exitCode();
			}
			this.environment.startedProcesses().kill();
		}
	}

	/**
	 * Sends SIGTERM to every rank, then SIGKILL to those that do not end in time;
	 * {@link #run()} then returns. May be called from any thread and repeatedly.
	 */
	public void stop() {
		synchronized (this.lock) {
			this.stopped = true;
			if (this.group != null) {
				this.group.stop();
			}
		}
	}

	private GroupExit runGroup(int restart) throws IOException, InterruptedException {
		boolean endsTogether = !this.plan.command().isService() || restart < this.plan.maxRestarts();
		try (JobPorts ports = new JobPorts(this.plan)) {
			RankGroup group = new RankGroup(this.plan, this.timings, this.console, endsTogether,
					(localRank) -> startRank(localRank, ports, restart));
			try {
				group.start();
				makeCurrent(group);
				return group.awaitEnd();
			}
			catch (IOException | InterruptedException | RuntimeException | Error ex) {
				group.kill();
				throw ex;
			}
		}
	}

	private RankProcess startRank(int localRank, JobPorts ports, int restart) throws IOException {
		return RankProcess.start(this.plan.rank(localRank), localRank, this.plan.command(), this.console,
				(variables) -> this.environment.apply(variables, localRank, ports, restart));
	}

	/** Applies a stop request that arrived before the group was started. */
	private void makeCurrent(RankGroup group) {
		synchronized (this.lock) {
			this.group = group;
			if (this.stopped) {
				group.stop();
			}
		}
	}

}
