package io.tutti.engine.control;

/**
 * A rank's entry to a round of a label, as rank 0 is told.
 *
 * @param ticket the rank's number for this wait
 * @param round the named round, or {@link RoundWait#NEXT}
 * @param tentative whether the rank waits for a client that may disconnect: rank 0 then
 * asks it for confirmation before the round completes
 */
public record RoundEntry(long ticket, String label, long round, boolean tentative, long timeoutNanos) {
}
