/**
 * What others see of how ranks find each other and stay in touch: what a rank brings to a
 * meeting and holds after it, and the control plane that stays open (heartbeat, abort,
 * comparison of calls, labelled barriers). Moves no tensor data. Imports the engine's
 * root package only; the rooms below import this one and each other in one direction:
 * {@code meeting}, where ranks meet, imports {@code control}, where rank 0 decides, and
 * both import {@code wire}, how messages travel.
 */
@NullMarked
package io.tutti.engine.rendezvous;

import org.jspecify.annotations.NullMarked;
