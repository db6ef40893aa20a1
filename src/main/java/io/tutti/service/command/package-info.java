/**
 * The command line as picocli commands, and the mapping of failures to exit codes. A
 * command that runs as one rank starts a Spring application; the other commands run
 * without Spring. The packages below do the work.
 */
@NullMarked
package io.tutti.service.command;

import org.jspecify.annotations.NullMarked;
