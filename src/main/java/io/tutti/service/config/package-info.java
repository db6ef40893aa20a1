/**
 * Configuration of a rank: the properties, one record per topic with its defaults, and
 * the engine and HTTP settings derived from them. Imports the engine and {@code launch}.
 */
@NullMarked
package io.tutti.service.config;

import org.jspecify.annotations.NullMarked;
