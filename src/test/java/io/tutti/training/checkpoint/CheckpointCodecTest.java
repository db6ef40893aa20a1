package io.tutti.training.checkpoint;

import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(30)
class CheckpointCodecTest {

	private static final Checkpoint CHECKPOINT = new Checkpoint(
			new JobFingerprint(List.of(new JobFingerprint.Value("seed", "7"), new JobFingerprint.Value("data", "a=b"))),
			new Progress(123, 4.5, 67), List.of(new byte[] { 1, 2, 3, 4 }, new byte[0], new byte[] { 5, 6, 7, 8 }),
			new byte[] { 9, 10 });

	@Test
	void decodingAnEncodedCheckpointGivesAnEqualOne() {
		Checkpoint read = CheckpointCodec.decode(OldCheckpoints.encode(CHECKPOINT));
		assertThat(read.job()).isEqualTo(CHECKPOINT.job());
		assertThat(read.progress()).isEqualTo(CHECKPOINT.progress());
		assertThat(read.parameters()).containsExactlyElementsOf(CHECKPOINT.parameters());
		assertThat(read.optimizer()).isEqualTo(CHECKPOINT.optimizer());
	}

	@Test
	void everyTruncatedCheckpointIsRejected() {
		byte[] whole = OldCheckpoints.encode(CHECKPOINT);
		for (int length = 0; length < whole.length; length++) {
			byte[] part = Arrays.copyOf(whole, length);
			assertThatIllegalArgumentException().isThrownBy(() -> CheckpointCodec.decode(part));
		}
	}

	@Test
	void everyFlippedBitIsDetected() {
		byte[] whole = OldCheckpoints.encode(CHECKPOINT);
		for (int bit = 0; bit < 8 * whole.length; bit++) {
			byte[] damaged = whole.clone();
			damaged[bit / 8] ^= (byte) (1 << bit % 8);
			assertThatIllegalArgumentException().isThrownBy(() -> CheckpointCodec.decode(damaged));
		}
	}

	@Test
	void aFileOfAnotherFormatIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> CheckpointCodec.decode(new byte[1000]))
			.withMessageContaining("not a Tutti checkpoint");
	}

}
