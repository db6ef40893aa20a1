package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.ReduceOp;
import io.tutti.engine.device.DeviceBuffer;
import io.tutti.DataType;
import io.tutti.engine.device.DeviceDataType;
import io.tutti.engine.device.DeviceRuntime;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A single rank receives its own operand from every collective, type and operator.
 */
@Tag("gpu")
@Timeout(120)
class GpuIdentityTest {

	private static final long COUNT = 1031;

	private static NcclLibrary library;

	private static RankCommunicator communicator;

	@BeforeAll
	static void form() {
		library = Gpu.require();
		communicator = RankCommunicator.create(library, RankCommunicator.newId(library), new RankPlacement(0, 1, 0),
				null, Duration.ofSeconds(60));
	}

	@AfterAll
	static void close() {
		if (communicator != null) {
			communicator.close();
		}
	}

	static Stream<Arguments> everything() {
		return Stream.of(Collective.values()).filter((collective) -> switch (collective) {
			case BARRIER, SCAN, EXCLUSIVE_SCAN -> false;
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, GATHER, SCATTER, ALL_TO_ALL -> true;
		})
			.flatMap((collective) -> Stream.of(DeviceDataType.values())
				.flatMap((type) -> operators(collective).map((op) -> Arguments.of(collective, type, op))));
	}

	private static Stream<ReduceOp> operators(Collective collective) {
		return collective.reduces() ? Arrays.stream(ReduceOp.values()).filter((op) -> op.appliesTo(DataType.FLOAT32))
				: Stream.of(ReduceOp.SUM);
	}

	@ParameterizedTest
	@MethodSource("everything")
	void aRankAloneGetsItsOwnOperandBack(Collective collective, DeviceDataType type, ReduceOp op) {
		requireKnown(type);
		DeviceRuntime runtime = library.runtime();
		byte[] elements = GpuElements.of(type, COUNT, (index) -> index % 5 + 1);
		try (DeviceBuffer send = GpuElements.upload(runtime, type, elements);
				DeviceBuffer receive = GpuElements.upload(runtime, type, new byte[elements.length])) {
			communicator.operations().run(collective, DeviceOperands.of(send, receive), DeviceReduction.of(op), 0);
			communicator.synchronize();
			assertThat(GpuElements.download(runtime, receive)).isEqualTo(elements);
			assertThat(GpuElements.download(runtime, send)).isEqualTo(elements);
		}
	}

	@Test
	void aFactorIsMultipliedIn() {
		DeviceRuntime runtime = library.runtime();
		byte[] elements = GpuElements.of(DeviceDataType.FLOAT32, COUNT, (index) -> index % 5 + 1);
		try (DeviceBuffer buffer = GpuElements.upload(runtime, DeviceDataType.FLOAT32, elements)) {
			communicator.operations().allReduce(DeviceOperands.inPlace(buffer), DeviceReduction.premultipliedSum(2.5));
			communicator.synchronize();
			assertThat(GpuElements.download(runtime, buffer))
				.isEqualTo(GpuElements.of(DeviceDataType.FLOAT32, COUNT, (index) -> 2.5 * (index % 5 + 1)));
		}
	}

	@Test
	void aRankMayWriteToItselfInOneGroup() {
		DeviceRuntime runtime = library.runtime();
		byte[] elements = GpuElements.of(DeviceDataType.INT32, COUNT, (index) -> index % 5);
		try (DeviceBuffer send = GpuElements.upload(runtime, DeviceDataType.INT32, elements);
				DeviceBuffer receive = GpuElements.upload(runtime, DeviceDataType.INT32, new byte[elements.length])) {
			communicator.operations().group((together) -> {
				together.send(DeviceOperands.sending(send), 0);
				together.receive(DeviceOperands.receiving(receive), 0);
			});
			communicator.barrier();
			assertThat(GpuElements.download(runtime, receive)).isEqualTo(elements);
		}
	}

	@Test
	void aPartAndRegisteredMemoryWork() {
		try (RankCommunicator part = communicator.split(0, 0);
				DeviceBuffer buffer = part.allocate(COUNT, DeviceDataType.FLOAT32);
				BufferRegistration _ = part.register(buffer)) {
			part.operations().allReduce(DeviceOperands.inPlace(buffer), DeviceReduction.of(ReduceOp.SUM));
			part.synchronize();
			assertThat(part.worldSize()).isOne();
		}
	}

	private static void requireKnown(DeviceDataType type) {
		Assumptions.assumeTrue(library.availability().has(type),
				() -> "NCCL " + library.availability().versionText() + " has no " + type);
	}

}
