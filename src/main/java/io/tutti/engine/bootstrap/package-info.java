/**
 * The rendezvous. Rank 0 listens, authenticates clients and decides which of them join;
 * every other rank connects until it joins or is rejected with a reason. When all ranks
 * have joined, the same connections carry the control plane. Other packages use
 * {@link io.tutti.engine.bootstrap.Rendezvous}. Imports the control plane, what both
 * ports share, and the engine's root.
 */
@NullMarked
package io.tutti.engine.bootstrap;

import org.jspecify.annotations.NullMarked;
