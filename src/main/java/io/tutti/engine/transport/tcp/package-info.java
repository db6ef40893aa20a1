/**
 * Bytes over TCP: one non-blocking connection per peer and group, driven by the thread
 * whose turn it is, and the listener that accepts them. Knows the rendezvous' roster and
 * key; no other transport.
 */
@NullMarked
package io.tutti.engine.transport.tcp;

import org.jspecify.annotations.NullMarked;
