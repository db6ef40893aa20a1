/**
 * Gets the native libraries of the JavaCPP presets ready before JavaCPP looks for them:
 * ranks that start together would otherwise write the same files under each other. Plain
 * Java: sets JavaCPP's documented properties and imports none of its classes.
 */
@NullMarked
package io.tutti.engine.javacpp;

import org.jspecify.annotations.NullMarked;
