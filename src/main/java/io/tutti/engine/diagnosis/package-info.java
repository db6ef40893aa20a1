/**
 * What tells what happened: fingerprints of calls, and what is made of them. Imports the
 * engine's root package only.
 */
@NullMarked
package io.tutti.engine.diagnosis;

import org.jspecify.annotations.NullMarked;
