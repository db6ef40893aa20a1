package io.tutti.service.command;

import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.TestJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(90)
class ExitDeadlineTest {

	/** A process whose standard error nobody reads any more. */
	static final class Stalled {

		private Stalled() {
		}

		static void main(String[] arguments) throws InterruptedException {
			CountDownLatch writing = new CountDownLatch(1);
			System.setErr(new PrintStream(new OutputStream() {
				@Override
				public void write(int b) {
					writing.countDown();
					while (true) {
						try {
							new CountDownLatch(1).await();
						}
						catch (InterruptedException ex) {
							// As a write to a full pipe.
						}
					}
				}
			}));
			Thread.ofPlatform().start(() -> System.err.println("more than the pipe holds"));
			writing.await();
			ExitDeadline.haltAfter(Duration.ofMillis(100), 42);
		}

	}

	@Test
	void aProcessWhoseErrorsAreNotReadIsHalted() throws Exception {
		Process process = new ProcessBuilder(TestJvm.command(Stalled.class)).inheritIO().start();
		try {
			assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("the process ends").isTrue();
			assertThat(process.exitValue()).isEqualTo(42);
		}
		finally {
			process.destroyForcibly();
		}
	}

}
