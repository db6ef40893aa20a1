/**
 * GPU memory and collectives on it: device buffers, the calls needed from a GPU runtime,
 * and the choice between a backend that supports device memory and staging through host
 * memory.
 */
@NullMarked
package io.tutti.engine.device;

import org.jspecify.annotations.NullMarked;
