/**
 * This rank's group as the application sees it: joined when the application starts, left
 * when it stops, and in one of four states in between. Imports the engine.
 */
@NullMarked
package io.tutti.service.group;

import org.jspecify.annotations.NullMarked;
