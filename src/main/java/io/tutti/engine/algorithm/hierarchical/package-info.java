/**
 * Two-level collectives: within each host, where ranks share memory, and between hosts.
 * Each level runs whole collectives; this package only sequences them. Imports the
 * engine's root package, algorithms and kernels.
 */
@NullMarked
package io.tutti.engine.algorithm.hierarchical;

import org.jspecify.annotations.NullMarked;
