/**
 * The rendezvous. Rank 0 listens, authenticates clients and decides which of them join;
 * every other rank connects until it joins or is rejected with a reason. When all ranks
 * have joined, the same connections carry the control plane. Other packages use
 * {@link io.tutti.engine.bootstrap.Rendezvous}; data ports also use the same
 * {@link io.tutti.engine.bootstrap.Handshake} and
 * {@link io.tutti.engine.bootstrap.ConnectionAcceptor}. Imports the control plane, the
 * engine's root package, {@code spi} and {@code tls}.
 */
@NullMarked
package io.tutti.engine.bootstrap;

import org.jspecify.annotations.NullMarked;
