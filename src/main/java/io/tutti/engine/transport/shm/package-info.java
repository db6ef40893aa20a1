/**
 * Moves bytes between ranks of one host through memory that all of them map: creation,
 * verification, layout and release of the memory, and the waits on it.
 */
@NullMarked
package io.tutti.engine.transport.shm;

import org.jspecify.annotations.NullMarked;
