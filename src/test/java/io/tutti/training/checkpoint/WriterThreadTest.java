package io.tutti.training.checkpoint;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class WriterThreadTest {

	@Test
	void theEndIsAwaitedWhileAWriteMakesProgressHoweverLongItTakes() throws Exception {
		Duration patience = Duration.ofSeconds(1);
		WriterThread thread = new WriterThread("slow", patience);
		Future<String> written = thread.submit(() -> {
			long start = System.nanoTime();
			while (System.nanoTime() - start < 3 * patience.toNanos()) {
				thread.progressed();
				Thread.sleep(10);
			}
			return "written";
		});
		assertThat(thread.awaitEnd()).isTrue();
		assertThat(written.get()).isEqualTo("written");
	}

	@Test
	void aWriteWithoutProgressIsGivenUp() throws Exception {
		WriterThread thread = new WriterThread("hanging", Duration.ofMillis(10));
		CountDownLatch end = new CountDownLatch(1);
		Future<String> written = thread.submit(() -> {
			end.await();
			return "written";
		});
		assertThat(thread.awaitEnd()).isFalse();
		end.countDown();
		assertThat(written.get()).isEqualTo("written");
	}

	@Test
	void aWriteIsToBeAwaitedWhileItMakesProgress() throws Exception {
		WriterThread thread = new WriterThread("awaited", Duration.ofMillis(200));
		CountDownLatch end = new CountDownLatch(1);
		Future<String> written = thread.submit(() -> {
			end.await();
			throw new IllegalStateException("the disk is full");
		});
		for (int wait = 0; wait < 10; wait++) {
			thread.progressed();
			assertThat(thread.isWriting(written, Duration.ofMillis(50))).isTrue();
		}
		while (thread.isWriting(written, Duration.ofMillis(50))) {
			// It has made progress since the last time.
		}
		assertThat(written.isDone()).isFalse();
		end.countDown();
		assertThatThrownBy(written::get).hasMessageContaining("the disk is full");
		assertThat(thread.isWriting(written, Duration.ofMillis(50))).isFalse();
		thread.awaitEnd();
	}

}
