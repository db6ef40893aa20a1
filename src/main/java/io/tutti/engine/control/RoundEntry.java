package io.tutti.engine.control;

/**
 * A rank's entry to a round of a label, as sent to rank 0.
 *
 * @param ticket the rank's number for this wait
 * @param round the named round, or {@link RoundWait#NEXT}
 * @param tentative whether the rank waits on behalf of a client that may disconnect. Rank
 * 0 then asks the rank for confirmation before the round completes.
 */
public record RoundEntry(long ticket, String label, long round, boolean tentative, long timeoutNanos) {
}
