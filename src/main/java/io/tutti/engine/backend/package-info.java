/**
 * Puts rendezvous, transports and algorithms together into groups that can be used.
 */
@NullMarked
package io.tutti.engine.backend;

import org.jspecify.annotations.NullMarked;
