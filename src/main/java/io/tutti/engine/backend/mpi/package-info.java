/**
 * MPI's names and rules on process groups, for programs written for MPI: a world,
 * communicators, requests, in-place calls, tags and wildcards. Imports the engine.
 */
@NullMarked
package io.tutti.engine.backend.mpi;

import org.jspecify.annotations.NullMarked;
