/**
 * The backends as beans: a configuration class for each, selected by its profile, with
 * the beans that belong to it. Imports the engine.
 */
@NullMarked
package io.tutti.service.backend;

import org.jspecify.annotations.NullMarked;
