package io.tutti.engine.p2p;

import java.time.Duration;

/**
 * How one rank carries the messages of a group.
 *
 * @param oversubscribed whether the host has fewer cores than ranks
 * @param drain how long closing the group waits until small sends that have returned are
 * sent
 * @param unexpected memory for unexpected messages, shared by all groups of the rank
 */
public record MessageSettings(boolean oversubscribed, Duration drain, UnexpectedMessageBudget unexpected) {
}
