/**
 * Point-to-point messages over plain connections: how they are matched with receives,
 * announced, pulled and waited for. Knows no transport by name.
 * <p>
 * Who is who, as in a post office. A {@code Messenger} is the counter where callers come:
 * each send or receive becomes an {@code Operation}, in the group's {@code Office}, which
 * is the lock around its {@code Postroom}. There {@code Matching} brings receives and
 * messages together; a message that came before its receive lies in a {@code Parcel} from
 * the {@code ParcelShelves}, counted by {@code UnexpectedBytes}. {@code Delivery} keeps a
 * {@code Correspondent} for each other rank: {@code Letter}s leave by its {@code Outbox},
 * come in by an {@code Inbox}, each behind a {@code Frame}, and {@code Sorting} brings
 * them to the receive that waits ({@code Handover}). The thread of a synchronous call is
 * the {@code Drive}; what nobody waits for, the {@code Attendant} moves on.
 * {@code MessageFailures} says what went wrong. Bytes from and to the heap pass piece by
 * piece through a parcel and the {@code HeapStage}.
 */
@NullMarked
package io.tutti.engine.transport.message;

import org.jspecify.annotations.NullMarked;
