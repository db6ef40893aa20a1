import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Fits the cost model of src/docs/scaling.md to measured cells, and says what it makes of
 * other sizes of world. Run as {@code java src/bench/ScalingModel.java FILE.tsv …}, each
 * FILE written by {@code tutti launch -n 2 bench --format tsv} with one algorithm, whose
 * name is that of the file.
 * <p>
 * Cells of the smallest world are fitted; those of larger worlds check the model.
 * <p>
 * The time of a call is {@code steps α + sent β + reduced γ}: latency of a step, time per
 * byte that the busiest rank sends, time per byte that it combines. The three are those
 * that bring the relative errors of all cells nearest to zero (least squares).
 */
public final class ScalingModel {

	private static final int PARAMETERS = 3;

	private static final long[] SIZES = { 4, 64 << 10, 1 << 20, 64 << 20 };

	private static final int[] WORLDS = { 64, 1024, 16384 };

	/** What an algorithm does of each kind at a world size and buffer size. */
	record Work(double steps, double sent, double reduced) {

		double[] terms() {
			return new double[] { this.steps, this.sent, this.reduced };
		}

		static Work of(String algorithm, int ranks, double bytes) {
			double log = Math.ceil(Math.log(ranks) / Math.log(2));
			double most = bytes * (ranks - 1) / ranks;
			return switch (algorithm) {
				case "all-reduce-ring" -> new Work(2 * (ranks - 1), 2 * most, most);
				case "all-reduce-recursive-doubling" -> new Work(log, bytes * log, bytes * log);
				case "all-reduce-halving-doubling" -> new Work(2 * log, 2 * most, most);
				case "broadcast-binomial" -> new Work(log, bytes * log, 0);
				case "broadcast-chain" -> new Work(ranks - 1, bytes, 0);
				case "reduce-binomial" -> new Work(log, bytes, bytes * log);
				case "reduce-chain" -> new Work(ranks - 1, bytes, bytes);
				case "all-gather-ring" -> new Work(ranks - 1, most, 0);
				case "all-gather-bruck" -> new Work(log, most, 0);
				case "reduce-scatter-ring" -> new Work(ranks - 1, most, most);
				case "all-to-all-pairwise" -> new Work(1 + (ranks - 2) * OWN_SHARE, most, 0);
				case "all-to-all-bruck" -> new Work(log, bytes * log / 2, 0);
				case "barrier-dissemination" -> new Work(log, 0, 0);
				default -> throw new IllegalArgumentException("no model of " + algorithm);
			};
		}

	}

	/**
	 * Messages that wait for nobody cost a rank only its own part of a step, a system call
	 * each way: about a third.
	 */
	private static final double OWN_SHARE = 1 / 3d;

	record Cell(String algorithm, int ranks, long bytes, double micros) {

		double[] terms() {
			return Work.of(this.algorithm, this.ranks, this.bytes).terms();
		}

	}

	private ScalingModel() {
	}

	public static void main(String[] files) throws IOException {
		List<Cell> cells = new ArrayList<>();
		for (String file : files) {
			cells.addAll(read(Path.of(file)));
		}
		int fewest = cells.stream().mapToInt(Cell::ranks).min().orElseThrow();
		double[] parameters = fit(cells.stream().filter((cell) -> cell.ranks() == fewest).toList());
		print("α %.2f µs, β %.3f ns/byte (%.1f GB/s), γ %.3f ns/byte (%.1f GB/s)%n", parameters[0], parameters[1] * 1e3,
				1e-3 / parameters[1], parameters[2] * 1e3, 1e-3 / parameters[2]);
		compare(cells, parameters);
		predict(cells.stream().map(Cell::algorithm).distinct().toList(), parameters);
	}

	private static List<Cell> read(Path file) throws IOException {
		String algorithm = file.getFileName().toString().replaceFirst("\\.tsv$", "");
		List<Cell> cells = new ArrayList<>();
		try (BufferedReader lines = Files.newBufferedReader(file)) {
			lines.lines().filter((line) -> line.startsWith("tutti\t")).forEach((line) -> {
				String[] columns = line.split("\t");
				cells.add(new Cell(algorithm, Integer.parseInt(columns[3]), Long.parseLong(columns[4]),
						Double.parseDouble(columns[5])));
			});
		}
		return cells;
	}

	/** The normal equations of the relative errors, solved by elimination. */
	private static double[] fit(List<Cell> cells) {
		double[][] system = new double[PARAMETERS][PARAMETERS + 1];
		for (Cell cell : cells) {
			double[] terms = cell.terms();
			for (int i = 0; i < PARAMETERS; i++) {
				for (int j = 0; j < PARAMETERS; j++) {
					system[i][j] += terms[i] * terms[j] / (cell.micros() * cell.micros());
				}
				system[i][PARAMETERS] += terms[i] / cell.micros();
			}
		}
		for (int pivot = 0; pivot < PARAMETERS; pivot++) {
			for (int row = 0; row < PARAMETERS; row++) {
				if (row != pivot) {
					double factor = system[row][pivot] / system[pivot][pivot];
					for (int column = pivot; column <= PARAMETERS; column++) {
						system[row][column] -= factor * system[pivot][column];
					}
				}
			}
		}
		double[] solution = new double[PARAMETERS];
		for (int i = 0; i < PARAMETERS; i++) {
			solution[i] = system[i][PARAMETERS] / system[i][i];
		}
		return solution;
	}

	private static double micros(double[] terms, double[] parameters) {
		double sum = 0;
		for (int i = 0; i < PARAMETERS; i++) {
			sum += terms[i] * parameters[i];
		}
		return sum;
	}

	private static void compare(List<Cell> cells, double[] parameters) {
		print("%n| algorithm | ranks | bytes | measured µs | model µs | model / measured |%n|---|---|---|---|---|---|%n");
		for (Cell cell : cells) {
			double model = micros(cell.terms(), parameters);
			print("| %s | %d | %d | %.2f | %.2f | %.2f |%n", cell.algorithm(), cell.ranks(), cell.bytes(), cell.micros(),
					model, model / cell.micros());
		}
	}

	private static void predict(List<String> algorithms, double[] parameters) {
		print("%n| algorithm | bytes | 64 ranks | 1 024 ranks | 16 384 ranks |%n|---|---|---|---|---|%n");
		for (String algorithm : algorithms) {
			for (long bytes : SIZES) {
				print("| %s | %d |", algorithm, bytes);
				for (int ranks : WORLDS) {
					print(" %s |", time(micros(Work.of(algorithm, ranks, bytes).terms(), parameters)));
				}
				print("%n");
			}
		}
	}

	private static String time(double micros) {
		return (micros < 1e4) ? String.format(Locale.ROOT, "%.0f µs", micros)
				: String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
	}

	private static void print(String format, Object... values) {
		System.out.print(String.format(Locale.ROOT, format, values));
	}

}
