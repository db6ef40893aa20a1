package io.tutti.launch.standalone;

import io.tutti.CollectiveListener;
import io.tutti.EnvironmentGroups;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
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

	private final ProcessProperties properties;

	/** For the service loader. */
	public StandaloneGroups() {
		this(ProcessProperties.ofThisProcess());
	}

	StandaloneGroups(ProcessProperties properties) {
		this.properties = properties;
	}

	@Override
	public ProcessGroup join(CollectiveListener listener) {
		NativeLibraryPreparation.prepare();
		ResolvedRank resolved = RankResolution.resolve(this.properties.variables(),
				ResolutionSettings.from(this.properties::text));
		EngineSettings settings = new StandaloneSettings(this.properties).of(resolved);
		Engine engine = Engine.join(resolved.assignment(), settings, listener);
		engine.world().whenClosed(engine::close);
		return engine.world();
	}

}
