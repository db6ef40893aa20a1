/**
 * The values that an application passes to the engine before it joins a group, its rank
 * and the time limits, and the reading of files that users name. The subpackages contain
 * the engine, plain Java without a framework or a logger.
 */
@NullMarked
package io.tutti.engine;

import org.jspecify.annotations.NullMarked;
