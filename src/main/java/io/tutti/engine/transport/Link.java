package io.tutti.engine.transport;

/**
 * The connection to one peer, as the call that has the turn sees it: two independent
 * streams of bytes, one each way, that never block. Each call's fingerprint goes ahead of
 * its bytes by itself, once each way; bytes under a foreign one are never handed out.
 * <p>
 * Every method may throw {@link io.tutti.CollectiveException}: the peer is lost or called
 * something else.
 */
public interface Link {

	/**
	 * Takes bytes to be sent.
	 * @return how many were taken and may be overwritten, 0 if the way is blocked
	 */
	long send(long address, long bytes);

	/**
	 * Sends what was taken but is still here. To be called in every round: bytes that
	 * were taken do not leave by themselves.
	 * @return whether nothing is left
	 */
	boolean flush();

	/**
	 * Flushes, with this call's fingerprint even if no byte goes with it.
	 * @return whether nothing is left
	 */
	boolean sendFingerprint();

	/** Whether the peer's fingerprint of this call has come. */
	boolean fingerprintReceived();

	/**
	 * Puts bytes that have come into memory.
	 * @return how many, 0 if none have come
	 */
	long receive(long address, long bytes);

	/**
	 * How many bytes can be read in place at {@link #readAddress()}; takes up more of
	 * those that have come if there are fewer than wanted.
	 */
	long readable(long wantedBytes);

	/** Where the {@link #readable} bytes are. */
	long readAddress();

	/** Gives back bytes that were read in place. */
	void consume(long bytes);

}
