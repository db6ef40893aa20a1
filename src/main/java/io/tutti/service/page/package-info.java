/**
 * The live page at {@code /}: how the group stands, sent once a second to whoever looks.
 * Its files are resources of this package. Imports the engine, {@code training}'s
 * listener and {@code service.group}.
 */
@NullMarked
package io.tutti.service.page;

import org.jspecify.annotations.NullMarked;
