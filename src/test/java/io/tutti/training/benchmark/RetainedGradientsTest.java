package io.tutti.training.benchmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import io.tutti.ProcessGroup;
import io.tutti.TestJvm;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.DistributedDataParallel;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** In a process of its own, since other tests change what the allocator has free. */
@Timeout(60)
@EnabledOnOs(OS.LINUX)
class RetainedGradientsTest {

	private static final LayerStack SHAPE = LayerStack.ofAbout(10e6);

	private static final long PAGES = SHAPE.parameters() * Float.BYTES / 4096;

	@Test
	void gradientsUseTheMemoryOfThoseOfTheStepBefore() throws Exception {
		NativeLibraryPreparation.prepare();
		Process process = new ProcessBuilder(TestJvm.command(Training.class)).redirectErrorStream(true).start();
		try {
			String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
			long[] faults = output.lines()
				.filter((line) -> line.startsWith("faults "))
				.mapToLong((line) -> Long.parseLong(line.substring(7)))
				.sorted()
				.toArray();
			assertThat(faults).as(output).hasSize(Training.STEPS);
			assertThat(faults[Training.STEPS / 2]).as(output).isLessThan(PAGES / 10);
		}
		finally {
			process.destroyForcibly();
		}
	}

	/**
	 * Prints the page faults of each step that drops its gradients. A few steps take new
	 * memory: the first, and any after which something else lies between the gradients.
	 */
	static final class Training {

		static final int STEPS = 11;

		private Training() {
		}

		static void main() throws Exception {
			try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS);
					PointerScope _ = new PointerScope();
					LayerStack.Network network = SHAPE.network()) {
				close(world.group(0), network);
				Tensor input = torch.randn(8, SHAPE.width());
				for (int step = 0; step < STEPS; step++) {
					long before = pageFaults();
					step(network, input);
					IO.println("faults " + (pageFaults() - before));
				}
			}
		}

		/** The settings of the process remain. */
		private static void close(ProcessGroup group, LayerStack.Network network) {
			new DistributedDataParallel(group, network).close();
		}

		private static void step(LayerStack.Network network, Tensor input) {
			try (PointerScope _ = new PointerScope()) {
				network.zero_grad(true);
				network.loss(input).backward();
			}
		}

		/** Minor page faults of the current thread. */
		private static long pageFaults() throws IOException {
			String status = Files.readString(Path.of("/proc/thread-self/stat"));
			return Long.parseLong(status.substring(status.lastIndexOf(')') + 2).split(" ")[7]);
		}

	}

}
