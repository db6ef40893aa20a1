/**
 * The part of every call that does not depend on the backend: argument checks, issue
 * order, worker thread, consistency check and flight recorder.
 */
@NullMarked
package io.tutti.engine.dispatch;

import org.jspecify.annotations.NullMarked;
