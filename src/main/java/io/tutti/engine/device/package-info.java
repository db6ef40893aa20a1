/**
 * Memory of GPUs and collectives on it, whatever carries them out: buffers, the few calls
 * of a GPU runtime that are needed, the choice between a backend that reaches the devices
 * and staging through host memory. Imports the engine's root and nothing else of ours.
 */
@NullMarked
package io.tutti.engine.device;

import org.jspecify.annotations.NullMarked;
