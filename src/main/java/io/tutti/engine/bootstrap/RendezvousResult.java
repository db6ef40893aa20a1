package io.tutti.engine.bootstrap;

import java.util.List;

import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;

/**
 * What rank 0 decided when all had met.
 */
record RendezvousResult(long generation, List<PeerAddress> roster, SessionKey sessionKey) {
}
