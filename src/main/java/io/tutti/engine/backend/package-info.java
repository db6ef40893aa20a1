/**
 * Assembles rendezvous, transports and algorithms into usable groups.
 */
@NullMarked
package io.tutti.engine.backend;

import org.jspecify.annotations.NullMarked;
