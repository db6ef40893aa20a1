/**
 * The REST interface under {@code /api/v1}, with errors as RFC 9457 problems. Imports the
 * engine, {@code service.group} and {@code service.config}.
 */
@NullMarked
package io.tutti.service.rest;

import org.jspecify.annotations.NullMarked;
