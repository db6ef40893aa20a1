package io.tutti.training.checkpoint;

import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Holds the thread that writes rank 0's checkpoints as a slow disk does, until it is
 * released: at the hash of the first file.
 */
public final class HeldCheckpoints implements AutoCloseable {

	private final CompletableFuture<Void> begun = new CompletableFuture<>();

	private final CountDownLatch released = new CountDownLatch(1);

	private final Provider provider = new HeldHashes(this::hold);

	public HeldCheckpoints() {
		Security.insertProviderAt(this.provider, 1);
	}

	/** Completes when the first write is held. */
	public CompletableFuture<Void> begun() {
		return this.begun;
	}

	private void hold() {
		this.begun.complete(null);
		try {
			this.released.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Lets the writes go on. */
	public void release() {
		this.released.countDown();
	}

	@Override
	public void close() {
		release();
		Security.removeProvider(this.provider.getName());
	}

	private static final class HeldHashes extends Provider {

		private static final long serialVersionUID = 1L;

		HeldHashes(Runnable hold) {
			super("held", "1", "");
			putService(new Service(this, "MessageDigest", "SHA-256", "none", null, null) {
				@Override
				public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
					if (Thread.currentThread().getName().equals("tutti-checkpoint-r0")) {
						hold.run();
					}
					throw new NoSuchAlgorithmException("the next provider has it");
				}
			});
		}

	}

}
