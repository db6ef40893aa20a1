package io.tutti.engine.javacpp;

import java.net.URL;

/**
 * A native library inside a jar.
 *
 * @param location where it is read from
 * @param bytes its size unpacked
 * @param checksum its CRC-32
 */
record BundledLibrary(URL location, long bytes, long checksum) {
}
