package io.tutti.engine.algorithm.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.TestJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class ScalarFallbackTest {

	@Test
	void aJvmWithoutTheVectorModuleReducesWithScalarKernels() throws Exception {
		Process jvm = new ProcessBuilder(TestJvm.command(Program.class)).redirectErrorStream(true).start();
		try {
			assertThat(jvm.waitFor(30, TimeUnit.SECONDS)).isTrue();
			assertThat(new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
				.isEqualToIgnoringNewLines("scalar 3.5");
			assertThat(jvm.exitValue()).isZero();
		}
		finally {
			jvm.destroyForcibly();
		}
	}

	/** Main class of the child JVM. */
	static final class Program {

		public static void main(String[] arguments) {
			ReductionKernels kernels = ReductionKernels.get();
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment values = arena.allocateFrom(ValueLayout.JAVA_FLOAT, 1.25f, 2.25f);
				kernels.reduce(DataType.FLOAT32, ReduceOp.SUM, values.address(), values.address(),
						values.address() + Float.BYTES, 1);
				System.out.println(kernels.name() + " " + values.get(ValueLayout.JAVA_FLOAT, 0));
			}
		}

	}

}
