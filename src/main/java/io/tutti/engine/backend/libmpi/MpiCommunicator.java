package io.tutti.engine.backend.libmpi;

/**
 * The library's communicator for one group.
 *
 * @param world the library
 * @param handle the library's handle
 */
public record MpiCommunicator(MpiWorld world, long handle) {

}
