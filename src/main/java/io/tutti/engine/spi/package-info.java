/**
 * The interfaces that a backend implements, and the call that it runs.
 */
@NullMarked
package io.tutti.engine.spi;

import org.jspecify.annotations.NullMarked;
