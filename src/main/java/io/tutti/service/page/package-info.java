/**
 * The live page at {@code /}: the state of the group, sent to every viewer once a second.
 * Its files are resources of this package. Imports the engine, {@code training}'s
 * results, {@code service.group} and {@code service.recorder}.
 */
@NullMarked
package io.tutti.service.page;

import org.jspecify.annotations.NullMarked;
