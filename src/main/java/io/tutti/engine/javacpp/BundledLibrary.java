package io.tutti.engine.javacpp;

import java.net.URL;

/**
 * A native library inside a jar.
 *
 * @param location URL of the library inside the jar
 * @param bytes uncompressed size
 * @param checksum CRC-32
 */
record BundledLibrary(URL location, long bytes, long checksum) {
}
