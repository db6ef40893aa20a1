/**
 * Point-to-point messages over plain connections: how they are matched with receives,
 * announced, pulled and waited for. Knows no transport by name.
 */
@NullMarked
package io.tutti.engine.transport.message;

import org.jspecify.annotations.NullMarked;
