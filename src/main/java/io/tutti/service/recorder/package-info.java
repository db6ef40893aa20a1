/**
 * Views of the flight recorder: JSON, a timeline, and a file that is written when the
 * group breaks. Imports the engine, {@code service.group} and {@code service.config}.
 */
@NullMarked
package io.tutti.service.recorder;

import org.jspecify.annotations.NullMarked;
