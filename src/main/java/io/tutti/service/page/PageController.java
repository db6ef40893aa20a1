package io.tutti.service.page;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Serves the live page, its files and its event stream. The content security policy
 * allows only files of this origin, and of scripts only the page's own.
 */
@Lazy
@Controller
@RequestMapping(PageController.PATH)
final class PageController {

	/** The path of the page, with a placeholder for the property. */
	static final String PATH = "${tutti.page.path:/tutti}";

	static final String EVENTS = "/page/events";

	private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
			+ "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

	private final PageFeed feed;

	private final PageLinks links;

	PageController(PageFeed feed, PageLinks links) {
		this.feed = feed;
		this.links = links;
	}

	@GetMapping(path = "/")
	ResponseEntity<String> page() throws IOException {
		String template = resource("index.html").getContentAsString(StandardCharsets.UTF_8);
		return response("text/html").body(template.replace("{links}", this.links.html()));
	}

	@GetMapping("/page/page.css")
	ResponseEntity<Resource> style() {
		return file("page.css", "text/css");
	}

	@GetMapping("/page/page.js")
	ResponseEntity<Resource> script() {
		return file("page.js", "text/javascript");
	}

	@GetMapping("/page/icon.svg")
	ResponseEntity<Resource> icon() {
		return file("icon.svg", "image/svg+xml");
	}

	@ResponseBody
	@GetMapping(path = EVENTS, produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	SseEmitter events(HttpMethod method) {
		if (method == HttpMethod.HEAD) {
			SseEmitter none = new SseEmitter();
			none.complete();
			return none;
		}
		return this.feed.view();
	}

	private static ResponseEntity<Resource> file(String name, String type) {
		return response(type).body(resource(name));
	}

	private static Resource resource(String name) {
		return new ClassPathResource(name, PageController.class);
	}

	private static ResponseEntity.BodyBuilder response(String type) {
		return ResponseEntity.ok()
			.contentType(MediaType.parseMediaType(type + ";charset=UTF-8"))
			.cacheControl(CacheControl.noCache())
			.header("Content-Security-Policy", POLICY)
			.header("X-Content-Type-Options", "nosniff")
			.header("Referrer-Policy", "no-referrer");
	}

}
