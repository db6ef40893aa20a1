/**
 * The public API: a group of ranks, its collectives and messages, and the exceptions that
 * they throw. Everything else is found from here, and this package imports no other one
 * of Tutti.
 */
@NullMarked
package io.tutti;

import org.jspecify.annotations.NullMarked;
