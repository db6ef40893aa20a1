package io.tutti.engine.rendezvous;

import java.util.List;

/**
 * What rank 0 decided when all had met.
 */
record Formed(long generation, List<PeerAddress> roster, SessionKey sessionKey) {
}
