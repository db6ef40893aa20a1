/**
 * Support for tests of programs that call collectives: runs a test method once per rank,
 * with all ranks in one JVM. Needs JUnit on the class path; imports the engine only.
 */
@NullMarked
package io.tutti.testing;

import org.jspecify.annotations.NullMarked;
