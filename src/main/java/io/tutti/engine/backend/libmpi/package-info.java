/**
 * Groups on a cluster's own MPI library, bound at run time: Open MPI's and MPICH's binary
 * interfaces, the single thread that calls the library, and collectives and messages on
 * it. Imports the engine's root and the kernels.
 */
@NullMarked
package io.tutti.engine.backend.libmpi;

import org.jspecify.annotations.NullMarked;
