/**
 * Data-parallel training on libtorch: every rank holds a replica of the model, computes
 * gradients on its share of each batch, and the engine all-reduces them. This package
 * holds what a program imports: {@link io.tutti.training.DistributedDataParallel} for a
 * training loop of its own, and {@link io.tutti.training.TrainingTask} for a model that
 * the training command runs. Imports the engine's root package, its packages
 * {@code device}, {@code transport}, {@code javacpp} and {@code backend.nccl}, of the
 * packages of training only {@code internal}, and {@code org.bytedeco}.
 */
@NullMarked
package io.tutti.training;

import org.jspecify.annotations.NullMarked;
