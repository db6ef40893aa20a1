/**
 * Collectives on GPUs by NCCL. Whether there is a driver, a device and a library is found
 * out before the preset is touched, since the preset ends the process where they are
 * missing. Imports the engine and its device room; beside training the only code that may
 * see {@code org.bytedeco}.
 */
@NullMarked
package io.tutti.engine.backend.nccl;

import org.jspecify.annotations.NullMarked;
