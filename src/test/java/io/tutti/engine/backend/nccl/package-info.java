/**
 * NCCL without a GPU: the probe against libraries that the tests build, the rest against
 * a scripted NCCL and device memory that is main memory.
 */
@NullMarked
package io.tutti.engine.backend.nccl;

import org.jspecify.annotations.NullMarked;
