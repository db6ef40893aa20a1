/**
 * The backend as a bean, selected by the active profile, and the beans that belong to it.
 * Imports the engine.
 */
@NullMarked
package io.tutti.service.backend;

import org.jspecify.annotations.NullMarked;
