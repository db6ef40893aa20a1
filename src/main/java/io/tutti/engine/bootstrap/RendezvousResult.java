package io.tutti.engine.bootstrap;

import java.util.List;

import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;

/**
 * What rank 0 decides when all ranks have joined.
 */
record RendezvousResult(long generation, List<PeerAddress> roster, SessionKey sessionKey) {
}
