/**
 * Auto-configuration for Spring Boot applications that have the library on their class
 * path: a process group to inject. Needs Spring Boot only, no web server. Imports
 * {@code config} and {@code group}.
 */
@NullMarked
package io.tutti.service.autoconfigure;

import org.jspecify.annotations.NullMarked;
