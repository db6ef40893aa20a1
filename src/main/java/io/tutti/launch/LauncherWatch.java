package io.tutti.launch;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.bootstrap.HostIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Detects that the launcher of this rank has died without stopping it, so that no
 * orphaned ranks remain. Polls twice a second.
 */
public final class LauncherWatch implements AutoCloseable {

	private static final long PERIOD_MILLIS = 500;

	private final CountDownLatch closed = new CountDownLatch(1);

	private LauncherWatch() {
	}

	/**
	 * Starts watching if a launcher on this host started this process.
	 * @param environment this process's environment variables
	 * @param lost runs once, on the watch's own thread, when the launcher has ended
	 * @return the watch, or {@code null} if there is no launcher to watch
	 */
	public static @Nullable LauncherWatch start(Map<String, String> environment, Runnable lost) {
		String pid = environment.get(RankEnvironment.LAUNCHER_PID);
		if (pid == null || !WholeNumber.matches(pid)
				|| !HostIdentity.ofThisHost().equals(environment.get(RankEnvironment.LAUNCHER_HOST))) {
			return null;
		}
		LauncherWatch watch = new LauncherWatch();
		ProcessHandle launcher = ProcessHandle.of(Long.parseLong(pid)).orElse(null);
		Thread.ofPlatform().name("tutti-launcher-watch").daemon().start(() -> watch.run(launcher, lost));
		return watch;
	}

	private void run(@Nullable ProcessHandle launcher, Runnable lost) {
		try {
			while (launcher != null && LiveProcess.is(launcher)) {
				if (this.closed.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
					return;
				}
			}
			if (this.closed.getCount() > 0) {
				lost.run();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
	}

}
