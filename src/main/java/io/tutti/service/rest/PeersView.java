package io.tutti.service.rest;

import java.util.List;

/**
 * The other ranks of the group.
 *
 * @param rank this rank
 * @param peers every other rank, by rank
 */
record PeersView(int rank, List<PeerView> peers) {
}
