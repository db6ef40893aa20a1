/**
 * Collectives on two levels: among the ranks of each host, who share memory, and between
 * hosts. Each level carries out whole collectives by itself; here is only how they follow
 * each other. Imports the engine's root package, algorithms and kernels.
 */
@NullMarked
package io.tutti.engine.algorithm.hierarchical;

import org.jspecify.annotations.NullMarked;
