/**
 * The backends and the one place that lists them; puts rendezvous, transport and
 * algorithms together into a group that can be used.
 */
@NullMarked
package io.tutti.engine.backend;

import org.jspecify.annotations.NullMarked;
