/**
 * Actuator health and information of a rank: readiness reflects the group, liveness only
 * this process.
 */
@NullMarked
package io.tutti.service.health;

import org.jspecify.annotations.NullMarked;
