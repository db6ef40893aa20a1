/**
 * The only Spring code: puts a rank into a process with HTTP, health and configuration
 * around it. Nobody imports it.
 */
@NullMarked
package io.tutti.service;

import org.jspecify.annotations.NullMarked;
