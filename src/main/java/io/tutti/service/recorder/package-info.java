/**
 * The flight recorder as people and programs read it: as JSON, as a timeline, and as a
 * file that is left behind when the group breaks. Imports the engine, {@code
 * service.group} and {@code service.config}.
 */
@NullMarked
package io.tutti.service.recorder;

import org.jspecify.annotations.NullMarked;
