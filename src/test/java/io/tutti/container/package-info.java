/**
 * Ranks in containers of the project's own image, and what may befall them.
 */
@NullMarked
package io.tutti.container;

import org.jspecify.annotations.NullMarked;
