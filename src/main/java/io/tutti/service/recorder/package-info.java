/**
 * Views of the flight recorder: JSON, a timeline, and a file that is written when the
 * group breaks; and the progress of a training job. Imports the engine, the events of
 * {@code training}, {@code service.group} and {@code service.config}.
 */
@NullMarked
package io.tutti.service.recorder;

import org.jspecify.annotations.NullMarked;
