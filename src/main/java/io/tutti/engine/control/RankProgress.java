package io.tutti.engine.control;

/**
 * How far a rank had come in a group when it gave its last sign of life.
 *
 * @param group name of the group
 * @param lastEntered sequence number of the last call that it had entered, -1 for none
 */
public record RankProgress(String group, long lastEntered) {
}
