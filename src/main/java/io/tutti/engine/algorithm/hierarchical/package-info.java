/**
 * Two-level collectives: within each host, where ranks share memory, and between hosts.
 * Each level runs whole collectives; this package only sequences them.
 */
@NullMarked
package io.tutti.engine.algorithm.hierarchical;

import org.jspecify.annotations.NullMarked;
