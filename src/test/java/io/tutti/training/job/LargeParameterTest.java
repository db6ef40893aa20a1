package io.tutti.training.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.DataParallelSettings;
import io.tutti.training.DistributedDataParallel;
import io.tutti.training.ModelTensors;
import io.tutti.training.Overlap;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A model whose size in bytes is no 32-bit number. First, since it takes long.
 */
@Order(1)
@Timeout(320)
class LargeParameterTest {

	/** Takes 20 s of computation, and on a busy machine many times as long. */
	private static final Duration LIMIT = Duration.ofSeconds(300);

	/** Memory that the test needs, with a reserve for others. */
	private static final long NEEDED_BYTES = 14L << 30;

	/** One tensor, with a reserve for others. */
	private static final long HASHED_NEEDED_BYTES = 6L << 30;

	/** Of 2 GiB of zeros, seven more and a byte of value 7, according to sha256sum. */
	private static final String HASH = "4f767a535bf628ac65150f40f1dd30ad5f20a5fc0fbb19c7671f8356aa12670e";

	/**
	 * One parameter of more than 2 GiB, reduced in one list with another parameter. The
	 * ranks share the parameters' memory, but not that of the gradients.
	 */
	@Test
	void aParameterOfMoreThanTwoGibibytesIsReduced() throws Exception {
		long available = availableBytes();
		assumeTrue(available >= NEEDED_BYTES,
				() -> "needs " + NEEDED_BYTES + " bytes of memory, available are " + available);
		long boundary = (1L << 31) / Float.BYTES;
		Tensor huge = torch.empty(boundary + 32);
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				SequencedMap<String, Tensor> parameters = new LinkedHashMap<>();
				parameters.put("huge", huge.detach().requires_grad_(true));
				parameters.put("large", torch.ones(1 << 19).requires_grad_(true));
				parameters.put("small", torch.ones(3).requires_grad_(true));
				try (DistributedDataParallel replicas = new DistributedDataParallel(world.group(rank),
						ModelTensors.of(parameters),
						DataParallelSettings.defaults().withOverlap(Overlap.ALWAYS).withBucketBytes(1L << 40))) {
					assertThat(replicas.bucketCount()).isEqualTo(2);
					try (PointerScope _ = new PointerScope()) {
						Tensor end = parameters.get("huge").narrow(0, boundary - 8, 40);
						Tensor loss = end.sum()
							.add(parameters.get("large").sum())
							.add(parameters.get("small").sum())
							.mul(new Scalar(1.0 + rank));
						loss.backward();
					}
					replicas.synchronizeGradients();
					assertThat(replicas.allReducedBytes()).isGreaterThan(1L << 31);
					for (Map.Entry<String, Tensor> parameter : parameters.entrySet()) {
						assertValues(parameter.getKey(), parameter.getValue().grad(), boundary);
					}
				}
				return null;
			});
		}
		finally {
			huge.close();
		}
	}

	/** At the end of a training, which a failure would lose. */
	@Test
	void aParameterOfMoreThanTwoGibibytesIsHashed() throws Exception {
		long available = availableBytes();
		assumeTrue(available >= HASHED_NEEDED_BYTES,
				() -> "needs " + HASHED_NEEDED_BYTES + " bytes of memory, available are " + available);
		long bytes = (1L << 31) + 8;
		Pointer zeros = Pointer.calloc(1, bytes);
		try (PointerScope _ = new PointerScope()) {
			// The C library maps zeros of this size instead of writing them.
			Tensor huge = torch.from_blob(zeros, new long[] { bytes }, new TensorOptions(torch.ScalarType.Byte));
			huge.narrow(0, (1L << 31) + 7, 1).fill_(new Scalar(7));
			MessageDigest digest = Sha256.newDigest();
			TensorMemory.update(digest, huge);
			assertThat(Sha256.hex(digest)).isEqualTo(HASH);
		}
		finally {
			Pointer.free(zeros);
		}
	}

	private static void assertValues(String name, Tensor gradient, long boundary) {
		try (PointerScope _ = new PointerScope()) {
			if (name.equals("huge")) {
				assertThat(gradient.narrow(0, boundary - 8, 40).eq(new Scalar(1.5)).all().item_bool()).isTrue();
				assertThat(gradient.sum().item_float()).isEqualTo(40 * 1.5f);
			}
			else {
				assertThat(gradient.eq(new Scalar(1.5)).all().item_bool()).isTrue();
			}
		}
	}

	private static long availableBytes() throws IOException {
		Path info = Path.of("/proc/meminfo");
		if (!Files.isReadable(info)) {
			return 0;
		}
		return Files.readAllLines(info)
			.stream()
			.filter((line) -> line.startsWith("MemAvailable:"))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
			.findFirst()
			.orElse(0);
	}

}
