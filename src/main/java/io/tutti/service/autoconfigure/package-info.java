/**
 * What a Spring Boot application of somebody else gets from the library on its class
 * path: a process group to inject. Needs Spring Boot alone, no web server. Imports
 * {@code config} and {@code group}.
 */
@NullMarked
package io.tutti.service.autoconfigure;

import org.jspecify.annotations.NullMarked;
