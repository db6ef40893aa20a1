package io.tutti.training.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.TestJvm;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ProcessEndTest {

	private static final int CODE = 79;

	/**
	 * A product that takes much longer than the JVM waits for native code at its exit.
	 */
	private static final int WIDTH = 6000;

	@Test
	void aProcessThatComputesEndsWithItsExitCodeAndAllOutput() throws Exception {
		NativeLibraryPreparation.prepare();
		Process process = new ProcessBuilder(TestJvm.command(List.of("-XX:-CreateCoredumpOnCrash"), Computing.class))
			.redirectErrorStream(true)
			.start();
		try {
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
			assertThat(output).contains("[ CPUFloatType{2} ]").doesNotContain("fatal error", "finished");
			assertThat(process.exitValue()).isEqualTo(CODE);
		}
		finally {
			process.destroyForcibly();
		}
	}

	/** Exits during a long operation of libtorch. */
	static final class Computing {

		private Computing() {
		}

		static void main() throws InterruptedException {
			ProcessEnd.skipFinalizers();
			ProcessEnd.skipFinalizers();
			torch.print(torch.ones(2));
			Tensor matrix = torch.ones(WIDTH, WIDTH);
			CountDownLatch begun = new CountDownLatch(1);
			Thread.ofPlatform().daemon().start(() -> {
				begun.countDown();
				matrix.matmul(matrix).close();
				IO.println("finished");
			});
			begun.await();
			Thread.sleep(100); // The operation has begun, as far as another thread can
								// tell.
			System.exit(CODE);
		}

	}

}
