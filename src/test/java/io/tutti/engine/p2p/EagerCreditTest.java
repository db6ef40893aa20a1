package io.tutti.engine.p2p;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIOException;

class EagerCreditTest {

	private final EagerCredit sender = new EagerCredit();

	private final EagerCredit receiver = new EagerCredit();

	@Test
	void aSenderThatKeepsToItsCreditStaysWithinTheWindow() throws IOException {
		this.receiver.enlarge(100_000);
		Queue<Integer> unexpected = new ArrayDeque<>();
		Random random = new Random(1);
		for (int i = 0; i < 100_000; i++) {
			int bytes = random.nextInt(EagerCredit.INITIAL_BYTES);
			if (this.sender.take(bytes)) {
				this.receiver.arrived(bytes);
				unexpected.add(bytes);
			}
			else if (this.receiver.mustReturn()) {
				this.sender.returned(this.receiver.takeDue());
			}
			else {
				this.receiver.consumed(unexpected.remove());
			}
		}
	}

	@Test
	void aPeerThatExceedsItsWindowIsOutOfSync() throws IOException {
		this.receiver.arrived(EagerCredit.INITIAL_BYTES);
		assertThatIOException().isThrownBy(() -> this.receiver.arrived(1)).withMessageContaining("out of sync");
	}

	@Test
	void aConsumedMessageMakesRoom() throws IOException {
		this.receiver.arrived(EagerCredit.INITIAL_BYTES);
		this.receiver.consumed(EagerCredit.INITIAL_BYTES);
		this.receiver.arrived(EagerCredit.INITIAL_BYTES);
	}

}
