// Shows a group of 64 ranks with 50 calls in flight, instead of the rank's own messages.
source.close();
const call = "all-reduce #2174 (count 9619, float32, sum)";
const states = { 17: "lost", 40: "missing" };
const many = [...Array(64).keys()].map((rank) => ({
  rank, self: rank === 5, state: states[rank] || (rank % 9 === 1 && rank > 1 ? "waiting" : "up"), call: rank % 9 ? null : "in " + call,
  sequence: 2174, roundTripMicros: 300 + rank, lateMicros: rank,
}));
show({
  state: "READY", trouble: true, rank: 5, worldSize: 64, backend: "tcp", transport: "tcp", generation: 0, problem: null,
  verdict: "rank 40 is missing from all-reduce #2174", ranks: many, sample: null, training: null,
  inFlight: many.slice(0, 50).map(({ rank }) => ({ rank, group: "world", call, bytes: 38476, durationMicros: 4500000 })),
  events: [{ atMillis: Date.now(), kind: "lost", text: "rank 17 lost" }],
});
