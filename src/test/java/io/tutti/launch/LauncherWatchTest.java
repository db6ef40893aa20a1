package io.tutti.launch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.bootstrap.HostIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class LauncherWatchTest {

	@Test
	void theEndOfTheLauncherIsDetected() throws Exception {
		Process launcher = new ProcessBuilder("sleep", "100").start();
		try {
			CountDownLatch lost = new CountDownLatch(1);
			LauncherWatch.start(launchedBy(launcher.pid()), lost::countDown);
			assertThat(lost.await(700, TimeUnit.MILLISECONDS)).isFalse();
			launcher.destroyForcibly();
			assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			launcher.destroyForcibly();
		}
	}

	@Test
	void aZombieLauncherCountsAsEnded() throws Exception {
		Process parent = new ProcessBuilder("sh", "-c", "sleep 0 & echo $!; exec sleep 100").start();
		try {
			String zombie = parent.inputReader().readLine();
			CountDownLatch lost = new CountDownLatch(1);
			LauncherWatch.start(launchedBy(Long.parseLong(zombie)), lost::countDown);
			assertThat(lost.await(30, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			parent.destroyForcibly();
		}
	}

	@Test
	void withoutALauncherThereIsNoWatch() {
		assertThat(LauncherWatch.start(Map.of(), () -> {
		})).isNull();
	}

	/** A program of a rank may start ranks elsewhere with its own environment. */
	@Test
	void aLauncherOnAnotherHostIsNotWatched() {
		assertThat(LauncherWatch.start(Map.of("TUTTI_LAUNCHER_PID", "1", "TUTTI_LAUNCHER_HOST", "another/host"), () -> {
		})).isNull();
	}

	@Test
	void aLaunchersOwnRankWatchesIt() throws Exception {
		LaunchPlan plan = new LaunchPlan(LaunchedCommand.of(List.of("train"), new TuttiProgram(List.of("java"))), 1, 1,
				0, "127.0.0.1", 4242, 0, null, Map.of());
		Map<String, String> environment = new HashMap<>();
		new RankEnvironment(plan, false).apply(environment, 0, new JobPorts(plan), 0);
		try (LauncherWatch watch = LauncherWatch.start(environment, () -> {
		})) {
			assertThat(watch).isNotNull();
		}
	}

	private static Map<String, String> launchedBy(long pid) {
		return Map.of("TUTTI_LAUNCHER_PID", Long.toString(pid), "TUTTI_LAUNCHER_HOST", HostIdentity.ofThisHost());
	}

	@Test
	void aClosedWatchReportsNothing() throws Exception {
		Process launcher = new ProcessBuilder("sleep", "100").start();
		CountDownLatch lost = new CountDownLatch(1);
		LauncherWatch watch = LauncherWatch.start(launchedBy(launcher.pid()), lost::countDown);
		assertThat(watch).isNotNull();
		watch.close();
		launcher.destroyForcibly().waitFor();
		assertThat(lost.await(700, TimeUnit.MILLISECONDS)).isFalse();
	}

}
