package io.tutti;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program that ends with an uncaught exception.
 */
@Timeout(120)
class ExitCodeTest {

	@Test
	void anUncaughtExceptionEndsTheProcessWithItsExitCode() throws Exception {
		assertThat(exitCodeOf("main")).isEqualTo(ExitCode.BAD_DATA);
	}

	@Test
	void anUncaughtExceptionInAShutdownHookDoesNotHangTheProcess() throws Exception {
		assertThat(exitCodeOf("hook")).isEqualTo(3);
	}

	@Test
	void causesThatFormACycleHaveAnExitCode() {
		RuntimeException first = new RuntimeException("first");
		RuntimeException second = new RuntimeException("second", first);
		first.initCause(second);
		assertThat(ExitCode.of(first)).isEqualTo(ExitCode.INTERNAL);
		assertThat(ExitCode.of(new RuntimeException(new BadData()))).isEqualTo(ExitCode.BAD_DATA);
	}

	@Test
	void theOthersAreRestartedUnlessTheFailureIsPermanent() {
		assertThat(ExitCode.ofOthers(new IllegalStateException("bug"))).isEqualTo(ExitCode.PEER_LOST);
		assertThat(ExitCode.ofOthers(new RuntimeException(new BadData()))).isEqualTo(ExitCode.ABORTED);
	}

	private static int exitCodeOf(String where) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(TestJvm.command(Program.class, where)).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			assertThat(process.waitFor(40, TimeUnit.SECONDS)).as("the process ends").isTrue();
			return process.exitValue();
		}
		finally {
			process.destroyForcibly();
		}
	}

	static final class Program {

		private Program() {
		}

		public static void main(String[] arguments) {
			ExitCode.onUncaughtException();
			if (arguments[0].equals("main")) {
				throw new BadData();
			}
			Runtime.getRuntime().addShutdownHook(new Thread(() -> {
				throw new BadData();
			}));
			System.exit(3);
		}

	}

	static final class BadData extends RuntimeException implements ExitCode.Source {

		private static final long serialVersionUID = 1L;

		@Override
		public int exitCode() {
			return ExitCode.BAD_DATA;
		}

	}

}
