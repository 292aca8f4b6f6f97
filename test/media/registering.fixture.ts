/** What a registration needs, over files in a folder, for the tests. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createPermits } from '#image/engine/permits.ts';
import { createVariantMaker } from '#image/engine/variants.ts';
import { createEngine } from '#image/engine/working.ts';
import { type RegistrationRequest, registrationRequest } from '#media/api.ts';
import { storageKeyOf } from '#media/assets/storagekey.ts';
import type { MediaContext } from '#media/context.ts';
import { createQuarantine } from '#media/quarantine/quarantine.ts';
import { createDigester } from '#media/reading/digests.ts';
import { depositAsset } from '#media/registration/depositing.ts';
import { type Registration, registerAsset } from '#media/registration/registration.ts';
import { createScreening, type ScreeningSettings } from '#media/screening/screening.ts';
import type { MediaTables } from '#media/tables.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { openFilesystem } from '#platform/objects/files/filesystem.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openLegacyObjects } from '#platform/objects/open.ts';
import { Problem } from '#platform/problem.ts';
import { openTestCache } from '../caches.fixture.ts';

export function openFiles(folder: string): Objects {
  return openFilesystem({
    bucket: 'objects',
    root: join(folder, 'objects'),
    stagingFolder: join(folder, 'incoming'),
    clock: systemClock,
  });
}

export function openPublicFiles(folder: string): Objects {
  const stagingFolder = join(folder, 'incoming');
  return openFilesystem({ bucket: 'public', root: join(folder, 'public'), stagingFolder, clock: systemClock });
}

export function openLegacyFiles(folder: string) {
  return openLegacyObjects({
    settings: { endpoint: 'embedded', region: undefined, accessKeyId: undefined, secretAccessKey: undefined },
    ownBuckets: ['objects', 'public'],
    dataDir: folder,
    clock: systemClock,
  });
}

const limits = { maxSourcePixels: 1e6, processTimeoutMs: 20_000, concurrency: 2, permitWaitMs: 5000 };

export const testQuarantine = { quarantineKey: Buffer.alloc(32, 7).toString('base64'), quarantineDays: 365 };

/** Its screening is to be closed. */
export function registrationDeps(
  database: Database,
  folder: string,
  { blockedHashes, screeningUrl }: Partial<ScreeningSettings> = {},
): MediaContext {
  const engine = createEngine(limits);
  const stores = { db: database.queries<MediaTables>(), objects: openFiles(folder) };
  return {
    ...stores,
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    publicObjects: openPublicFiles(folder),
    legacy: openLegacyFiles(folder),
    quarantine: createQuarantine({ ...stores, clock: systemClock } as MediaContext, testQuarantine),
    engine,
    variants: createVariantMaker({ engine, keySecret: 'a key secret', publicObjects: openPublicFiles(folder), limits }),
    images: createPermits({ count: 4, waitMs: 5000 }),
    digester: createDigester(),
    limits: {
      maxImageBytes: 1e6,
      maxVideoBytes: 1e6,
      maxOwnerBytes: 0,
      uploadTtlS: 3600,
      stripMetadata: 'public' as const,
    },
    publicScopes: ['feed'],
    screening: createScreening({ blockedHashes, screeningUrl }),
    signedUrls: openTestCache(database),
  } as Partial<MediaContext> as MediaContext;
}

export const newRequest = (changes: object = {}): RegistrationRequest =>
  registrationRequest.parse({
    ...{ assetId: randomUUID(), ownerId: randomUUID(), scopeKind: 'thread', scopeId: '1' },
    ...{ kind: 'image', mime: 'image/png', ...changes },
  });

/** A registration whose object is `bytes`, and how to overwrite it. */
export async function uploaded(objects: Objects, bytes: Uint8Array) {
  const request = newRequest();
  const storageKey = storageKeyOf({ ...request, ownerId: String(request.ownerId) });
  const put = (again: Uint8Array) => objects.put(storageKey, again, { contentType: 'image/png' });
  await put(bytes);
  return { request, storageKey, put };
}

export const depositOf = (deps: MediaContext, request: RegistrationRequest, bytes: Uint8Array) => () => {
  const body = Buffer.concat([Buffer.from(`${JSON.stringify(request)}\n`), bytes]);
  return depositAsset(deps, { kind: 'internal' }, { length: body.length, body: Readable.from([body]) });
};

/** `created`, `replayed`, or the code of the problem. */
export async function outcomeOf(
  deps: MediaContext,
  request: RegistrationRequest,
  work: () => Promise<Registration> = () => registerAsset(deps, { kind: 'internal' }, request),
): Promise<string> {
  try {
    return (await work()).created ? 'created' : 'replayed';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}
