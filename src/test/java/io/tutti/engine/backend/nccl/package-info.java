/**
 * NCCL tests without a GPU: the probe runs on libraries that the tests compile,
 * everything else on a scripted NCCL with device memory simulated in host memory.
 */
@NullMarked
package io.tutti.engine.backend.nccl;

import org.jspecify.annotations.NullMarked;
