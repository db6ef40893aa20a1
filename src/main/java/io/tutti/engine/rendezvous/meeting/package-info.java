/**
 * Where ranks meet: rank 0 listens, tells ranks from strangers and gives out seats; every
 * other rank knocks until it has one or is refused by name; once all have come, the same
 * connections carry the control plane. Others call
 * {@link io.tutti.engine.rendezvous.meeting.Rendezvous} alone. Imports its sister rooms,
 * the package above and the engine's root.
 */
@NullMarked
package io.tutti.engine.rendezvous.meeting;

import org.jspecify.annotations.NullMarked;
