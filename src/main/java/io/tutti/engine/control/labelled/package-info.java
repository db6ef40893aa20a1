/**
 * Labelled barriers and the matching of announced calls, which the REST interface uses.
 * {@code BarrierService} is rank 0's side and {@code LabelledWaits} the side of every
 * rank.
 */
@NullMarked
package io.tutti.engine.control.labelled;

import org.jspecify.annotations.NullMarked;
