/**
 * Collectives among the ranks of one host that read and write the memory they share in
 * place: flat ones for small calls, staged ones for large buffers. They combine operands
 * in rank order, always. What is not here goes over links, by the algorithms of the
 * package above.
 */
@NullMarked
package io.tutti.engine.algorithm.shared;

import org.jspecify.annotations.NullMarked;
