/**
 * Moves bytes between two ranks: what a transport and a link are, and how a rank waits
 * for them. The transports themselves live in sub-packages that do not know each other.
 */
@NullMarked
package io.tutti.engine.transport;

import org.jspecify.annotations.NullMarked;
