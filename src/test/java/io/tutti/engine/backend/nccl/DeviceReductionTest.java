package io.tutti.engine.backend.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import io.tutti.engine.device.DeviceDataType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Factors of a pre-multiplied sum of integers.
 */
class DeviceReductionTest {

	@ParameterizedTest
	@CsvSource({ "INT32, 0x1p31", "INT32, -2147483649", "UINT32, -1", "UINT32, 0x1p32", "INT64, 0x1p63", "INT64, -1e19",
			"INT64, Infinity", "UINT64, -1", "UINT64, 0x1p64", "UINT64, NaN", "INT32, 0.5" })
	void aFactorThatTheTypeCannotHoldIsRejected(DeviceDataType type, double factor) {
		assertThatIllegalArgumentException().isThrownBy(() -> new DeviceReduction.PremultipliedSum(factor).as(type))
			.withMessageStartingWith("the factor of a sum of " + type + " must be a whole number in ")
			.withMessageEndingWith("got " + factor);
	}

	@Test
	void theMessageNamesTheRange() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DeviceReduction.PremultipliedSum(-1).as(DeviceDataType.UINT64))
			.withMessage("the factor of a sum of uint64 must be a whole number in 0..18446744073709551615, got -1.0");
	}

	@ParameterizedTest
	@CsvSource({ "INT32, 2147483647, 2147483647", "INT32, -0x1p31, -2147483648", "UINT32, 4294967295, -1",
			"INT64, -0x1p63, -9223372036854775808", "UINT64, 0x1p63, -9223372036854775808", "UINT64, 7, 7" })
	void aFactorKeepsItsBits(DeviceDataType type, double factor, long bits) {
		ByteBuffer element = ByteBuffer.wrap(new DeviceReduction.PremultipliedSum(factor).as(type))
			.order(ByteOrder.nativeOrder());
		assertThat((type.bytes() == Integer.BYTES) ? element.getInt() : element.getLong()).isEqualTo(bits);
	}

}
