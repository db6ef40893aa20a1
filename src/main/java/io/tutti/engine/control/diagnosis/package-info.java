/**
 * What tells what happened: fingerprints of calls, each rank's account of its last calls,
 * and what the accounts of all ranks say together. Imports the engine's root package
 * only.
 */
@NullMarked
package io.tutti.engine.control.diagnosis;

import org.jspecify.annotations.NullMarked;
