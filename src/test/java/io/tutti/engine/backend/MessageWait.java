package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.ProcessGroup;

/**
 * Ways to wait for a message from a peer, or for a peer to receive one.
 */
enum MessageWait {

	RECEIVE, RECEIVE_ANY, RECEIVE_ASYNC, SEND, SEND_RECEIVE;

	private static final int TOO_LARGE_TO_BE_BUFFERED = 1_000_000;

	void call(ProcessGroup group, int peer) throws Exception {
		MemorySegment large = MemorySegment.ofArray(new byte[TOO_LARGE_TO_BE_BUFFERED]);
		MemorySegment other = MemorySegment.ofArray(new byte[TOO_LARGE_TO_BE_BUFFERED]);
		switch (this) {
			case RECEIVE -> group.receive(large, DataType.INT8, peer, 0);
			case RECEIVE_ANY -> group.receiveAny(large, DataType.INT8, Message.ANY_SOURCE, 0);
			case RECEIVE_ASYNC -> {
				CompletableFuture<Message> receive = group.receiveAsync(large, DataType.INT8, peer, 0).toFuture();
				receive.handle((message, failure) -> failure).get(20, TimeUnit.SECONDS);
				receive.getNow(null);
			}
			case SEND -> group.send(large, DataType.INT8, peer, 0);
			case SEND_RECEIVE -> group.sendReceive(large, peer, other, peer, DataType.INT8, 0);
		}
	}

}
