/**
 * What the actuator says of a rank: readiness is the group, liveness this process alone.
 */
@NullMarked
package io.tutti.service.health;

import org.jspecify.annotations.NullMarked;
