package io.tutti.engine.elastic;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;

/**
 * What the formations of one process have in common.
 *
 * @param launched the launcher's assignment, whose rank is the slot
 */
record FormationContext(LocalMember member, FormationEndpoint endpoint, ElasticSettings elastic,
		EngineSettings settings, RankAssignment launched, CollectiveListener events) {

}
