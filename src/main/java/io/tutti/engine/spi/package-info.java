/**
 * What a backend implements, and the call that it is asked to run.
 */
@NullMarked
package io.tutti.engine.spi;

import org.jspecify.annotations.NullMarked;
