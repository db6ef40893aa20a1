package io.tutti.launch;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * Starts the ranks of this machine, relays their output and ends together with them, as
 * torchrun does and with its environment variables. After a failure the whole group ends,
 * and starts again where the plan says so; services go on without the lost rank.
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
	 * Runs to the end of the last rank.
	 * @return 0, or the exit code of the first rank to fail (128 + signal if one ended
	 * it)
	 * @throws IOException if the program cannot be started
	 * @throws InterruptedException if the calling thread is interrupted; no rank is left
	 */
	public int run() throws IOException, InterruptedException {
		for (int restart = 0;; restart++) {
			GroupExit end = runGroup(restart);
			RankExit failure = end.firstFailure();
			if (failure == null || this.plan.command().stoppedOnRequest(failure)) {
				return endAsAsked(end, failure);
			}
			boolean again = restart < this.plan.maxRestarts() && !end.stopped()
					&& this.plan.command().restartHelps(failure);
			this.console.say(end.describe(failure) + (again
					? "; starting the group again (" + (restart + 1) + " of " + this.plan.maxRestarts() + ")" : ""));
			if (!again) {
				return end.exitCode();
			}
		}
	}

	private int endAsAsked(GroupExit end, @Nullable RankExit stopped) {
		if (stopped != null) {
			this.console.say(end.describeStop());
		}
		return end.exitCode();
	}

	/**
	 * Asks every rank to end (SIGTERM), and ends those that do not in time;
	 * {@link #run()} then returns. Safe from any thread, any number of times.
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
		boolean endsTogether = !this.plan.command().outlivesPeers() || restart < this.plan.maxRestarts();
		RankGroup group = new RankGroup(this.plan.command(), this.timings, this.console, endsTogether);
		try (RendezvousPort port = meetingPort()) {
			startRanks(group, port.number(), restart);
			makeCurrent(group);
			return group.awaitEnd();
		}
		catch (IOException | InterruptedException ex) {
			group.kill();
			throw ex;
		}
	}

	/** Other programs may not be able to listen on a port that is held for them. */
	private RendezvousPort meetingPort() {
		Integer given = this.plan.masterPort();
		if (given != null) {
			return RendezvousPort.given(given);
		}
		RendezvousPort port = RendezvousPort.free();
		if (this.plan.command().kind() == LaunchedCommand.Kind.PROGRAM) {
			port.close();
		}
		return port;
	}

	private void startRanks(RankGroup group, int masterPort, int restart) throws IOException {
		for (int i = 0; i < this.plan.ranksPerNode(); i++) {
			int localRank = i;
			group.add(RankProcess.start(this.plan.rank(localRank), localRank, this.plan.command(), this.console,
					(variables) -> this.environment.apply(variables, localRank, masterPort, restart)));
		}
	}

	/** Hands on a request to stop that came before there was a group to stop. */
	private void makeCurrent(RankGroup group) {
		synchronized (this.lock) {
			this.group = group;
			if (this.stopped) {
				group.stop();
			}
		}
	}

}
