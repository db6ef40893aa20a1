/**
 * Resolution of this process's rank, and the start of ranks on one machine: one resolver
 * per supported launcher, and a launcher of its own that sets torchrun's variables. Plain
 * Java; imports the engine only.
 */
@NullMarked
package io.tutti.launch;

import org.jspecify.annotations.NullMarked;
