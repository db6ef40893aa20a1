package io.tutti.engine.control;

/**
 * The address at which a rank accepts data connections.
 *
 * @param rank the world rank
 * @param host address, not loopback if any rank is on another host
 * @param port port
 * @param hostIdentity identifies the host (boot id and host name); ranks with the same
 * value may share memory
 */
public record PeerAddress(int rank, String host, int port, String hostIdentity) {
}
