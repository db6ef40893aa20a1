/**
 * How the ranks of a group agree on the one failure that breaks it.
 */
@NullMarked
package io.tutti.engine.failure;

import org.jspecify.annotations.NullMarked;
