/**
 * Measures collectives in the manner of nccl-tests: what is run, how it is timed and
 * checked, and how the figures are shown. Imports the engine only.
 */
@NullMarked
package io.tutti.benchmark;

import org.jspecify.annotations.NullMarked;
