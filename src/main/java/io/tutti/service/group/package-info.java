/**
 * Lifecycle of this rank's group within the application: the rank joins when the
 * application starts and leaves when it stops. The group is always in one of four states.
 * Imports the engine.
 */
@NullMarked
package io.tutti.service.group;

import org.jspecify.annotations.NullMarked;
