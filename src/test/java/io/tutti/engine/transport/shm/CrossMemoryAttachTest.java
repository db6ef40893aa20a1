package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

class CrossMemoryAttachTest {

	private static final ReadableProcess OWN = ReadableProcess.current();

	private final Arena arena = Arena.ofConfined();

	private final CrossMemoryAttach attach = CrossMemoryAttach.find(this.arena);

	@AfterEach
	void close() {
		this.arena.close();
	}

	@Test
	void copiesBytesOfAProcess() throws IOException {
		byte[] content = new byte[100_003];
		for (int i = 0; i < content.length; i++) {
			content[i] = (byte) (31 * i);
		}
		MemorySegment source = this.arena.allocateFrom(ValueLayout.JAVA_BYTE, content);
		MemorySegment target = this.arena.allocate(content.length);
		this.attach.copy(OWN, source.address(), target.address(), content.length);
		assertThat(target.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
	}

	@Test
	void memoryThatDoesNotExistIsAnErrorThatNamesTheProcess() {
		MemorySegment target = this.arena.allocate(8);
		assertThatIOException().isThrownBy(() -> this.attach.copy(OWN, 16, target.address(), 8))
			.withMessageContaining("process " + OWN.pid());
	}

	@Test
	void aProcessThatHasEndedIsAnError() throws Exception {
		Process ended = new ProcessBuilder("true").start();
		ended.waitFor();
		MemorySegment target = this.arena.allocate(8);
		ReadableProcess process = new ReadableProcess(ended.pid(), OWN.address(), OWN.number());
		assertThatIOException().isThrownBy(() -> this.attach.copy(process, target.address(), target.address(), 8))
			.withMessageContaining("process " + ended.pid());
	}

	/** It has the process number of one that has ended, and perhaps the same memory. */
	@Test
	void anotherProcessThanTheOneThatWasMeantIsAnError() {
		MemorySegment target = this.arena.allocate(8);
		ReadableProcess earlier = new ReadableProcess(OWN.pid(), OWN.address(), OWN.number() + 1);
		assertThatIOException().isThrownBy(() -> this.attach.copy(earlier, target.address(), target.address(), 8))
			.withMessageContaining("another one has its number");
	}

	@Test
	void aProcessWithoutTheNumberIsAnError() {
		MemorySegment target = this.arena.allocate(8);
		ReadableProcess other = new ReadableProcess(OWN.pid(), 16, OWN.number());
		assertThatIOException().isThrownBy(() -> this.attach.copy(other, target.address(), target.address(), 8));
	}

}
