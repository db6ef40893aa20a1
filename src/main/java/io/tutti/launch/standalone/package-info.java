/**
 * A group for a program without a framework: the documented properties read from system
 * properties and environment variables, and the engine joined with them. Plain Java;
 * imports {@code launch} and the engine.
 */
@NullMarked
package io.tutti.launch.standalone;

import org.jspecify.annotations.NullMarked;
