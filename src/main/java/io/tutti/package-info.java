/**
 * The public API: a group of ranks, its collectives and messages, and the exceptions that
 * they throw. This package imports no other package of Tutti.
 */
@NullMarked
package io.tutti;

import org.jspecify.annotations.NullMarked;
