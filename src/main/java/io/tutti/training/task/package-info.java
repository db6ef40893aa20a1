/**
 * Bundled tasks that show how a network of one's own is trained. They use what any user's
 * task can use: the public types of {@code io.tutti.training}, and {@code org.bytedeco}.
 */
@NullMarked
package io.tutti.training.task;

import org.jspecify.annotations.NullMarked;
