/**
 * The only code that depends on Spring: runs a rank in a process with HTTP, health and
 * configuration. No other package imports it.
 */
@NullMarked
package io.tutti.service;

import org.jspecify.annotations.NullMarked;
