/**
 * The words of command that are no rank of their own, as picocli commands. They run
 * without a Spring application; the rooms below do the work.
 */
@NullMarked
package io.tutti.service.command;

import org.jspecify.annotations.NullMarked;
