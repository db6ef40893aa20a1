/**
 * Moves bytes between ranks of one host through memory that all of them map: how the
 * memory is made, proven to be the same, laid out and given back, and how a rank waits on
 * it. Imports the engine's root, the transport package above and fingerprints only.
 */
@NullMarked
package io.tutti.engine.transport.shm;

import org.jspecify.annotations.NullMarked;
