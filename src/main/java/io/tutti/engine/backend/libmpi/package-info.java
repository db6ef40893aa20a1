/**
 * A cluster's own MPI library under our groups, bound at run time: Open MPI's and MPICH's
 * binary interfaces, the one thread that calls the library, and collectives and messages
 * over it. Imports the engine's root and the kernels.
 */
@NullMarked
package io.tutti.engine.backend.libmpi;

import org.jspecify.annotations.NullMarked;
