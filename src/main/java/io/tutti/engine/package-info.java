/**
 * What an application tells the engine before it joins a group: which rank it is, and the
 * time limits. The packages below hold the engine itself, plain Java without a framework
 * or a log.
 */
@NullMarked
package io.tutti.engine;

import org.jspecify.annotations.NullMarked;
