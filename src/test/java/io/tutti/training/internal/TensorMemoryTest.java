package io.tutti.training.internal;

import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.util.List;

import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.SharesLibtorch;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SharesLibtorch
class TensorMemoryTest {

	@BeforeAll
	static void prepare() {
		NativeLibraryPreparation.prepare();
	}

	@Test
	void aDigestCoversTheBytesInElementOrder() {
		try (PointerScope _ = new PointerScope()) {
			Tensor values = torch.arange(new Scalar(6)).view(2, 3);
			for (Tensor tensor : new Tensor[] { values, values.t(), torch.ones(5), torch.empty(0),
					values.select(0, 1) }) {
				MessageDigest digest = Sha256.newDigest();
				TensorMemory.update(digest, tensor);
				MessageDigest expected = Sha256.newDigest();
				expected.update(TensorMemory.of(tensor.contiguous()).toArray(ValueLayout.JAVA_BYTE));
				assertThat(Sha256.hex(digest)).isEqualTo(Sha256.hex(expected));
			}
		}
	}

	@Test
	void aDigestCoversTheValuesOfConjugatesAndNegatives() {
		try (PointerScope _ = new PointerScope()) {
			Tensor complex = torch.view_as_complex(torch.ones(3, 2));
			for (Tensor lazy : new Tensor[] { complex.conj(), torch.ones(3)._neg_view() }) {
				MessageDigest digest = Sha256.newDigest();
				TensorMemory.update(digest, lazy);
				MessageDigest expected = Sha256.newDigest();
				TensorMemory.update(expected, lazy.resolve_conj().resolve_neg());
				assertThat(Sha256.hex(digest)).isEqualTo(Sha256.hex(expected));
			}
		}
	}

	@Test
	void elementsWithoutAStepOfTheirOwnShareMemory() {
		try (PointerScope _ = new PointerScope()) {
			Tensor values = torch.arange(new Scalar(24)).view(2, 3, 4);
			assertThat(List.of(values, values.transpose(0, 1), values.permute(2, 0, 1), values.select(1, 1),
					values.view(1, 24, 1), torch.ones(1).expand(1, 1), torch.empty(0).expand(3, 0),
					torch.scalar_tensor(new Scalar(1)), strided(values, 3, 1, 2, 3), strided(values, 8, 1, 2, 2)))
				.noneMatch(TensorMemory::sharesElements);
			assertThat(List.of(torch.ones(1).expand(5), torch.ones(2, 1).expand(2, 3), strided(values, 2, 1, 4, 4),
					strided(values, 2, 2, 3, 3)))
				.allMatch(TensorMemory::sharesElements);
		}
	}

	/** A view of some rows and columns with these strides. */
	private static Tensor strided(Tensor values, long rowStride, long columnStride, long rows, long columns) {
		return values.as_strided(new long[] { rows, columns }, new long[] { rowStride, columnStride });
	}

}
