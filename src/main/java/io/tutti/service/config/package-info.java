/**
 * What a rank is told: the properties, a record per concern with its defaults, and what
 * follows from them for the engine and for HTTP. Imports the engine and {@code launch}.
 */
@NullMarked
package io.tutti.service.config;

import org.jspecify.annotations.NullMarked;
