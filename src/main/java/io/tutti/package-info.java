/**
 * The public API: a group of ranks, its collectives and messages, and the exceptions that
 * they throw. This package imports no other package of Tutti.
 * <p>
 * A few members are public only for the packages that implement groups, as their
 * descriptions state: factories of exceptions and failures, and the service
 * {@link io.tutti.EnvironmentGroups}. Programs do not need them.
 */
@NullMarked
package io.tutti;

import org.jspecify.annotations.NullMarked;
