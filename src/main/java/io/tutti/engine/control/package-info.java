/**
 * The control plane: what stays open between rank 0 and every other rank after
 * rendezvous. It carries heartbeats, failure reports and verdicts, the comparison of
 * calls, drain requests, queries and labelled barriers, and moves no tensor data.
 * <p>
 * At rank 0 the {@link io.tutti.engine.control.Coordinator} decides, with one class per
 * concern: {@code FailureResolver}, {@code MismatchDetector}, {@code DepartureTracker}.
 * These classes never block: the coordinator calls their {@code tick} and asks when to
 * call it next. Every rank, rank 0 included, has a
 * {@link io.tutti.engine.control.RankControl}. Labelled barriers and call matching are in
 * {@code labelled}: {@code BarrierService} at rank 0 and {@code LabelledWaits} at every
 * rank. Messages, their encoding, frames, a non-blocking connection and the control
 * thread are here too. Every length is capped before allocation, and malformed bytes
 * cause a {@link io.tutti.engine.control.MalformedFrameException} and nothing else.
 * Imports the engine's root package, {@code failure}, {@code spi} and {@code tls};
 * {@code bootstrap}, where a group forms, imports this package.
 * <p>
 * A new message takes these steps. Every switch over messages is complete, so the
 * compiler names each place that is missing:
 * <ol>
 * <li>a record in {@code ControlMessage}: a {@code Request} from a rank to rank 0, a
 * {@code Notice} from rank 0 to a rank;
 * <li>its class at the end of the list in {@code MessageCodec}, a new {@code VERSION},
 * and an example in its test. {@code RecordCodec} encodes its components; its constructor
 * checks every range that the receiver relies on;
 * <li>a class with a clock and a listener, which {@code Coordinator.receive} feeds and
 * {@code Coordinator.tick} and {@code nanosUntilDue} drive;
 * <li>the rank's side in {@code RankControl}: the method that sends the request, the case
 * of the notice in {@code receive}, and the case of the request in
 * {@code resolveLocally}, for a rank that has lost rank 0;
 * <li>a method of {@code ControlPlane} for callers, or of {@code ControlListener} for
 * queries to this process.
 * </ol>
 * TCP and simulated ranks carry any message without a change.
 */
@NullMarked
package io.tutti.engine.control;

import org.jspecify.annotations.NullMarked;
