package io.tutti.engine.backend;

class SimulatedDepartureTest extends DepartureContract {

	@Override
	TestedTransport transport() {
		return TestedTransport.SIMULATED;
	}

}
