/**
 * How rank 0 and the other ranks talk: the messages, their bytes, frames, a non-blocking
 * connection and the one thread that serves connections. Decides nothing. Every length is
 * capped before anything is allocated, and bytes that are no message end in
 * {@link io.tutti.engine.rendezvous.wire.MalformedFrameException} and nothing else.
 * Imports the package above and the engine's root.
 */
@NullMarked
package io.tutti.engine.rendezvous.wire;

import org.jspecify.annotations.NullMarked;
