/**
 * `npm run import-legacy -- <owner> <scopeKind> <scopeId> <path…>`: registers files of the legacy backend as assets with a
 * UUID, without moving the bytes (docs/specification/system.md#commands). Prints one line for each path. The exit code is 1 if any of
 * them failed. It can be repeated. If a running instance holds the embedded database, the command calls that instance.
 */

import { type Config, readConfig } from '#app/config.ts';
import { legacyImport } from '#media/api.ts';
import { importerOf } from '#media/service.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { isEmbeddedInUse, serviceOfInstance } from './instance.ts';
import { createMediaStores, reasonOf } from './mediastores.ts';
import { readArguments } from './usage.ts';

interface Imported {
  readonly created: boolean;
  readonly assetId: string;
}

/** Throws a Problem, or any other error that concerns this file. */
type Import = (request: unknown) => Promise<Imported>;

const filesAtOnce = 4;
/** Time limit for one image, including its wait for a slot. */
const timeoutMs = 60_000;

export async function importLegacy(args: readonly string[]): Promise<number> {
  const options = { bucket: { type: 'string' } } as const;
  const { words, values } = readArguments('import-legacy', args, { least: 4, most: Number.POSITIVE_INFINITY, options });
  const [ownerId, scopeKind, scopeId, ...paths] = words;
  const legacyBucket = values.bucket;
  const config = readConfig(process.env, ['media']);
  const closers = new Closers();
  try {
    const importOne = isEmbeddedInUse(config) ? throughInstance(config, closers) : await standalone(config, closers);
    const outcomes = await mapConcurrently(paths, filesAtOnce, (path) =>
      printOutcome(path, () => importOne({ ownerId, scopeKind, scopeId, legacyBucket, path })),
    );
    return outcomes.every(Boolean) ? 0 : 1;
  } finally {
    await closers.closeAll();
  }
}

async function printOutcome(path: string, work: () => Promise<Imported>): Promise<boolean> {
  try {
    const { created, assetId } = await work();
    console.log(`ok     ${assetId}  ${path}${created ? '' : '  (already registered)'}`);
    return true;
  } catch (error) {
    console.log(`FAULT  ${path}: ${reasonOf(error)}`.replaceAll('\n', ' '));
    return false;
  }
}

function throughInstance(config: Config, closers: Closers): Import {
  const media = serviceOfInstance(config, closers, { service: 'media', timeoutMs });
  return async (json) => {
    const { status, body } = await media.send<{ readonly assetId: string }>({
      method: 'POST',
      path: '/v1/assets/legacy',
      json,
    });
    return { created: status === 201, assetId: body.assetId };
  };
}

async function standalone(config: Config, closers: Closers): Promise<Import> {
  const { engines, open } = createMediaStores(config, closers);
  if ((await engines.legacy()).driver === 'off')
    throw new StartFault(
      'LEGACY_S3_ENDPOINT: no legacy backend is configured. Set it to `embedded` to use the data folder.',
    );
  const stores = await open();
  const importOne = importerOf({ ...stores, engine: await engines.images(), screening: await engines.screening() });
  return async (json) => {
    const { data, error } = legacyImport.safeParse(json);
    if (data === undefined) throw new Error(error?.issues.map(describeIssue).join('; '));
    const db = auditOf(stores.database.queries());
    const { created, asset } = await audited(db, { action: 'import-legacy', target: 'legacy file' }, () =>
      importOne(data),
    );
    return { created, assetId: asset.assetId };
  };
}

function describeIssue({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  return `${path.join('.')} ${message}`;
}
