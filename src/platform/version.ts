import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** The commit of the build. A build replaces the variable by its value. `unknown` without a repository, and for the sources. */
export const commit: string = process.env.ATELIER_COMMIT || 'unknown';
