/**
 * Where ranks meet: rank 0 listens, tells ranks from strangers and gives out ranks; every
 * other rank knocks until it has one or is refused by name; once all have come, the same
 * connections carry the control plane. Others call
 * {@link io.tutti.engine.bootstrap.Rendezvous} alone. Imports its sister rooms, the
 * package above and the engine's root.
 */
@NullMarked
package io.tutti.engine.bootstrap;

import org.jspecify.annotations.NullMarked;
