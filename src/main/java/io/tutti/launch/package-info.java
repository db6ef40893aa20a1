/**
 * Who this process is, and starting ranks on one machine: one resolver per launcher whose
 * environment variables Tutti understands, and a launcher of its own that gives ranks
 * torchrun's variables. Plain Java; imports the engine only.
 */
@NullMarked
package io.tutti.launch;

import org.jspecify.annotations.NullMarked;
