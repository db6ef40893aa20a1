package io.tutti.endtoend;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import org.openqa.selenium.OutputType;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A headless Chromium, where one is installed.
 */
final class Browser implements AutoCloseable {

	private static final Path PROGRAM = Path.of("/usr/bin/chromium");

	private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

	private final ChromeDriver driver;

	private Browser(ChromeDriver driver) {
		this.driver = driver;
	}

	/** Starts a browser. Skips the tests if there is none, unless it is required. */
	static Browser open(Path profile) {
		boolean there = Files.isExecutable(PROGRAM) && Files.isExecutable(DRIVER);
		Launcher.require(there, PROGRAM + " or " + DRIVER + " is missing: install chromium and chromium-driver");
		ChromeOptions options = new ChromeOptions();
		options.setBinary(PROGRAM.toFile());
		options.addArguments("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--user-data-dir=" + profile);
		LoggingPreferences logs = new LoggingPreferences();
		logs.enable(LogType.BROWSER, Level.ALL);
		options.setCapability("goog:loggingPrefs", logs);
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).build();
		return new Browser(new ChromeDriver(service, options));
	}

	/**
	 * Replaces the tab, its settings and its complaints by a new one with a screen of the
	 * given size.
	 */
	void newTab(int width, int height) {
		String before = this.driver.getWindowHandle();
		String tab = this.driver.switchTo().newWindow(WindowType.TAB).getWindowHandle();
		this.driver.switchTo().window(before).close();
		this.driver.switchTo().window(tab);
		complaints();
		resize(width, height);
	}

	void visit(String address) {
		this.driver.manage().timeouts().pageLoadTimeout(Duration.ofSeconds(60));
		this.driver.get(address);
	}

	/**
	 * The visible texts of all elements that a selector matches, at one moment: the page
	 * replaces elements at any time.
	 */
	List<String> texts(String selector) {
		List<?> texts = (List<?>) this.driver.executeScript("""
				return Array.from(document.querySelectorAll(arguments[0]),
						(element) => element.checkVisibility() ? (element.innerText ?? element.textContent).trim() : "")
				""", selector);
		return texts.stream().map(String.class::cast).toList();
	}

	/** Sets the preferred color scheme, dark or light. */
	void prefer(String scheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
	}

	/** Emulates a screen of the given size. */
	void resize(int width, int height) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
	}

	/** By how many pixels the content is wider than the window. */
	long overflow() {
		return (Long) this.driver
			.executeScript("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
	}

	/** Runs a script in the page. */
	void run(String script) {
		this.driver.executeScript(script);
	}

	void requireNoComplaints() {
		assertThat(complaints()).isEmpty();
	}

	/** What the browser has complained about since the last question. */
	private List<LogEntry> complaints() {
		return this.driver.manage().logs().get(LogType.BROWSER).getAll();
	}

	void picture(Path file) throws IOException {
		Files.createDirectories(file.getParent());
		Files.write(file, this.driver.getScreenshotAs(OutputType.BYTES));
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
