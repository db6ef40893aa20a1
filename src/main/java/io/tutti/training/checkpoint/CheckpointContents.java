package io.tutti.training.checkpoint;

import java.util.List;

/**
 * Description of a checkpoint, which precedes the data of its tensors.
 *
 * @param progress progress of its job
 * @param model the model's parameters and buffers
 * @param optimizer the optimizer's tensors
 */
record CheckpointContents(Progress progress, List<TensorHeader> model, List<TensorHeader> optimizer) {
}
