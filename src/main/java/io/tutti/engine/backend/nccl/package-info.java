/**
 * Collectives on GPUs by NCCL. A probe checks for a driver, a device and the libraries
 * before the preset is loaded, since without them the preset can end the process. Imports
 * the engine and its device package; besides training, the only package that may import
 * {@code org.bytedeco}.
 */
@NullMarked
package io.tutti.engine.backend.nccl;

import org.jspecify.annotations.NullMarked;
