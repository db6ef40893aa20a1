/**
 * What a collective is: process groups, the backends that carry collectives out, data
 * types, operators, deadlines and failures. Plain Java; imports nothing of ours from
 * outside the engine, and nothing from its own sub-packages.
 */
@NullMarked
package io.tutti.engine;

import org.jspecify.annotations.NullMarked;
