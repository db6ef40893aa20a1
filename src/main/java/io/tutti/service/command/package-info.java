/**
 * The words of command, as picocli commands, and what an exit code means. A command that
 * is one rank runs a Spring application around its part; the others run without. The
 * rooms below do the work.
 */
@NullMarked
package io.tutti.service.command;

import org.jspecify.annotations.NullMarked;
