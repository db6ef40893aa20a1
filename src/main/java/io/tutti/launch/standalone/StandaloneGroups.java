package io.tutti.launch.standalone;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.tutti.CollectiveListener;
import io.tutti.ElasticGroup;
import io.tutti.EnvironmentGroups;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.elastic.DefaultElasticGroup;
import io.tutti.engine.elastic.ElasticEngine;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;

/**
 * Joins a group as configured by system properties and environment variables. Also
 * prepares libtorch where it is on the class path, since the program most likely uses it
 * next.
 */
public final class StandaloneGroups implements EnvironmentGroups {

	/** A process is one rank of one job. */
	private static final AtomicBoolean PROCESS_HAS_JOINED = new AtomicBoolean();

	private final ProcessProperties properties;

	private final AtomicBoolean joined;

	/** For the service loader. */
	public StandaloneGroups() {
		this(ProcessProperties.ofThisProcess(), PROCESS_HAS_JOINED);
	}

	StandaloneGroups(ProcessProperties properties) {
		this(properties, new AtomicBoolean());
	}

	private StandaloneGroups(ProcessProperties properties, AtomicBoolean joined) {
		this.properties = properties;
		this.joined = joined;
	}

	@Override
	public ProcessGroup join(CollectiveListener listener) {
		return once((settings) -> {
			settings.requireNotElastic();
			ResolvedRank resolved = resolve();
			Engine engine = Engine.join(resolved.assignment(), settings.of(resolved), listener);
			engine.world().onClose(() -> this.joined.set(false));
			engine.world().onClose(engine::close);
			return engine.world();
		});
	}

	@Override
	public ElasticGroup joinElastic(CollectiveListener listener) {
		return once((settings) -> {
			ResolvedRank resolved = resolve();
			EngineSettings engineSettings = settings.of(resolved);
			ElasticEngine engine = ElasticEngine.open(resolved.assignment(), engineSettings,
					settings.elastic(resolved, engineSettings), listener);
			return new DefaultElasticGroup(engine, () -> this.joined.set(false));
		});
	}

	private <T> T once(Function<StandaloneSettings, T> join) {
		if (!this.joined.compareAndSet(false, true)) {
			throw new IllegalStateException("this process has a group from fromEnvironment already: close it before it "
					+ "joins again, or create further groups by split and subgroup");
		}
		try {
			StandaloneSettings settings = new StandaloneSettings(this.properties);
			settings.requireSpelling();
			return join.apply(settings);
		}
		catch (RuntimeException | Error ex) {
			this.joined.set(false);
			throw ex;
		}
	}

	private ResolvedRank resolve() {
		NativeLibraryPreparation.prepare();
		return RankResolution.resolve(this.properties.variables(), ResolutionSettings.from(this.properties::text));
	}

}
