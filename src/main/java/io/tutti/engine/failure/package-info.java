/**
 * Agreement of a group's ranks on the one failure that breaks the group.
 */
@NullMarked
package io.tutti.engine.failure;

import org.jspecify.annotations.NullMarked;
