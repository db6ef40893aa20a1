package io.tutti.launch;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class LineRelayTest {

	@Test
	void linesAreSplitAtLineFeeds() {
		assertThat(relay("one\ntwo\n\nthree\n")).containsExactly("line one", "line two", "line ", "line three");
	}

	@Test
	void theLastLineNeedsNoLineFeed() {
		assertThat(relay("one\ntwo")).containsExactly("line one", "line two");
	}

	@Test
	void aLineThatArrivesInPiecesIsOneLine() {
		assertThat(relay("on", "e\nt", "wo\n")).containsExactly("line one", "line two");
	}

	@Test
	void aWindowsLineEndIsALineEnd() {
		assertThat(relay("one\r\ntwo\r\n")).containsExactly("last one", "last two");
	}

	@Test
	void updatesThatBeginWithACarriageReturnAreShownAsTheyArrive() {
		assertThat(relay("\r10 %", "\r50 %", "\r100 %", "\nnext\n")).containsExactly("update 10 %", "update 50 %",
				"update 100 %", "last 100 %", "line next");
	}

	@Test
	void updatesThatEndWithACarriageReturnAreShownAsTheyArrive() {
		assertThat(relay("10 %\r", "50 %\r", "done\n")).containsExactly("update 10 %", "update 50 %", "last done");
	}

	@Test
	void onlyTheLastOfSeveralUpdatesInOneReadIsShown() {
		assertThat(relay("\r10 %\r50 %\r100 %", "\n")).containsExactly("update 100 %", "last 100 %");
	}

	@Test
	void anEndlessLineIsSplit() {
		List<String> lines = relay("x".repeat(LineRelay.MAX_LINE_BYTES + 10) + "\n");
		assertThat(lines).hasSize(2);
		assertThat(lines.get(1)).isEqualTo("line " + "x".repeat(10));
	}

	@Test
	void bytesPassUnchanged() {
		assertThat(relay("Maß ±0 – 100 %\n")).containsExactly("line Maß ±0 – 100 %");
	}

	/** Relays the pieces; each one is returned by one read. */
	private static List<String> relay(String... pieces) {
		List<String> seen = new ArrayList<>();
		new LineRelay(new Pieces(pieces), new LineRelay.Lines() {
			@Override
			public void line(byte[] text, int length, boolean endsUpdate) {
				seen.add((endsUpdate ? "last " : "line ") + new String(text, 0, length, StandardCharsets.UTF_8));
			}

			@Override
			public void update(byte[] text, int length) {
				seen.add("update " + new String(text, 0, length, StandardCharsets.UTF_8));
			}
		}).run();
		return seen;
	}

	private static final class Pieces extends InputStream {

		private final List<ByteArrayInputStream> pieces = new ArrayList<>();

		Pieces(String... pieces) {
			for (String piece : pieces) {
				this.pieces.add(new ByteArrayInputStream(piece.getBytes(StandardCharsets.UTF_8)));
			}
		}

		@Override
		public int read() throws IOException {
			byte[] one = new byte[1];
			return (read(one, 0, 1) < 0) ? -1 : one[0] & 0xff;
		}

		@Override
		public int read(byte[] bytes, int offset, int length) {
			while (!this.pieces.isEmpty() && this.pieces.getFirst().available() == 0) {
				this.pieces.removeFirst();
			}
			return this.pieces.isEmpty() ? -1 : this.pieces.getFirst().read(bytes, offset, length);
		}

		@Override
		public int available() {
			return this.pieces.isEmpty() ? 0 : this.pieces.getFirst().available();
		}

	}

}
