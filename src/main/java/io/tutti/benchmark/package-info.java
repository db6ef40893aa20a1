/**
 * Benchmarks of collectives in the manner of nccl-tests: options, timing, checks of
 * results and reports. Imports the engine only.
 */
@NullMarked
package io.tutti.benchmark;

import org.jspecify.annotations.NullMarked;
