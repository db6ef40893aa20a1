/**
 * What runs around every call of a group, whichever backend carries it out: arguments,
 * issue order, worker thread, consistency check and flight recorder.
 */
@NullMarked
package io.tutti.engine.dispatch;

import org.jspecify.annotations.NullMarked;
