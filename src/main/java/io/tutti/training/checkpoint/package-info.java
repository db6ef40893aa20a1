/**
 * Checkpoints of a model and its optimizer: safetensors files with a manifest, written in
 * the background by rank 0, verified on read and readable at any world size. Imports
 * {@code io.tutti.training} and {@code internal}.
 */
@NullMarked
package io.tutti.training.checkpoint;

import org.jspecify.annotations.NullMarked;
