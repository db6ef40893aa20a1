/**
 * Data-parallel training on libtorch: every rank holds a replica of the model, computes
 * gradients on its share of each batch, and the engine all-reduces them. Imports the
 * engine's root package, its packages {@code device}, {@code transport}, {@code javacpp}
 * and {@code backend.nccl}, and {@code org.bytedeco}.
 */
@NullMarked
package io.tutti.training;

import org.jspecify.annotations.NullMarked;
