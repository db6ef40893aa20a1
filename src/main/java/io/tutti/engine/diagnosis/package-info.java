/**
 * Diagnostics: each rank's trace of its last calls, its encoding, and the comparison of
 * the traces of all ranks. Imports {@code control}, {@code dispatch} and {@code spi}.
 */
@NullMarked
package io.tutti.engine.diagnosis;

import org.jspecify.annotations.NullMarked;
