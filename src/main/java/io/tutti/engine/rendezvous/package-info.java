/**
 * How ranks find each other and stay in touch: the handshake at the meeting point, and
 * the control plane that stays open after it (heartbeat, abort, comparison of calls,
 * labelled barriers). Moves no tensor data. Imports the engine's root package only.
 */
@NullMarked
package io.tutti.engine.rendezvous;

import org.jspecify.annotations.NullMarked;
