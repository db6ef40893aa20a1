package io.tutti.service.command;

import picocli.CommandLine.IVersionProvider;

/**
 * Provides the version from the jar's manifest.
 */
final class VersionProvider implements IVersionProvider {

	@Override
	public String[] getVersion() {
		String version = VersionProvider.class.getPackage().getImplementationVersion();
		return new String[] { "Tutti " + ((version != null) ? version : "(not from a jar)"),
				"Java " + Runtime.version() };
	}

}
