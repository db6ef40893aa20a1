package io.tutti.engine.transport;

/**
 * The connection to one peer during the current call: two independent non-blocking byte
 * streams, one in each direction. The link sends each call's fingerprint before its first
 * byte, and delivers no bytes of a call with another fingerprint.
 * <p>
 * Every method throws {@link io.tutti.CollectiveException} if the peer is lost or has
 * made a different call.
 */
public interface Link {

	/**
	 * Accepts bytes to send.
	 * @return how many were buffered or written, which may now be overwritten; 0 if the
	 * stream accepts none
	 */
	long send(long address, long bytes);

	/**
	 * Writes buffered bytes to the stream. Must be called in every round, since nothing
	 * else writes them.
	 * @return whether the buffer is empty
	 */
	boolean flush();

	/**
	 * Flushes, and sends this call's fingerprint also if the call sends no bytes.
	 * @return whether the buffer is empty
	 */
	boolean sendFingerprint();

	/** Whether the peer's fingerprint of this call has arrived. */
	boolean fingerprintReceived();

	/**
	 * Copies received bytes to memory.
	 * @return how many, 0 if none have arrived
	 */
	long receive(long address, long bytes);

	/**
	 * The bytes available in the receive buffer, at {@link #readAddress()}; reads more
	 * from the stream if fewer than wanted.
	 */
	long readable(long wantedBytes);

	/** Address of the {@link #readable} bytes. */
	long readAddress();

	/** Removes bytes from the receive buffer. */
	void consume(long bytes);

}
