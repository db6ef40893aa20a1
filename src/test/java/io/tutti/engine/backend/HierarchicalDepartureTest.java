package io.tutti.engine.backend;

class HierarchicalDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.HIERARCHICAL;
	}

}
