/**
 * Elastic groups: when ranks are lost, the remaining ones form the next generation of the
 * group in the same processes, and processes that were started later join it. Each member
 * listens for its whole life at the formation endpoint of its slot. The members agree on
 * the next generation there and then run the ordinary rendezvous. Imports {@code backend}
 * and the packages below it.
 */
@NullMarked
package io.tutti.engine.elastic;

import org.jspecify.annotations.NullMarked;
