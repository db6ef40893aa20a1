package io.tutti.engine.control;

/**
 * A rank's progress in a group at its last heartbeat.
 *
 * @param group name of the group
 * @param lastEntered sequence number of the last call it had entered, -1 for none
 */
public record RankProgress(String group, long lastEntered) {
}
