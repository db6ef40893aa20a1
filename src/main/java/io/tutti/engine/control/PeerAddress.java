package io.tutti.engine.control;

/**
 * Where a rank's data connections are accepted.
 *
 * @param rank the world rank
 * @param host address, never loopback when peers are elsewhere
 * @param port port
 * @param hostIdentity what tells hosts apart (boot id and host name); ranks with the same
 * one may share memory
 */
public record PeerAddress(int rank, String host, int port, String hostIdentity) {
}
