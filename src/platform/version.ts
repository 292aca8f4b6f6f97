import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** The commit that the program was built from, `unknown` outside of a build. `-dirty` at its end: with uncommitted changes. */
export const commit: string = process.env.ATELIER_COMMIT ?? 'unknown';
