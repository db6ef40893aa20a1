/**
 * Unpacks the native libraries of the JavaCPP presets before JavaCPP loads them.
 * Otherwise ranks that start at the same time overwrite each other's files. Sets
 * JavaCPP's documented properties and imports none of its classes.
 */
@NullMarked
package io.tutti.engine.javacpp;

import org.jspecify.annotations.NullMarked;
