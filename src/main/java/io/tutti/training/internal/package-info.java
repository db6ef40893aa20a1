/**
 * What several packages of training share: memory and identity of tensors, agreement of
 * texts, hashes, permutations and atomic files. Not for programs; imports no other
 * package of training.
 */
@NullMarked
package io.tutti.training.internal;

import org.jspecify.annotations.NullMarked;
