package io.tutti.training.internal;

import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;

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

}
