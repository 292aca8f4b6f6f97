/** What a copy needs, over files in a folder, for the tests. */
import { randomUUID } from 'node:crypto';
import { copyRequest } from '#media/api.ts';
import type { MediaContext } from '#media/context.ts';
import { copyAsset } from '#media/copying/copying.ts';
import type { ScreeningSettings } from '#media/screening/screening.ts';
import type { MediaTables } from '#media/tables.ts';
import type { Database } from '#platform/db/db.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { makeImage } from './images.fixture.ts';
import { openFiles, outcomeOf, registrationDeps, uploaded } from './registering.fixture.ts';

/** Its screening is to be closed. */
export function copyDeps(database: Database, folder: string, lists: Partial<ScreeningSettings> = {}): MediaContext {
  return { ...registrationDeps(database, folder, lists), log: createLog({ level: 'silent' }) };
}

/** A source of its own: a registered image, or an image in the legacy backend; and the request to copy it. */
export type SourceKind = 'asset' | 'legacy path';

export interface CopyOf {
  readonly ownerId: string;
  readonly request: object;
}

export async function plantSource(deps: MediaContext, kind: SourceKind): Promise<CopyOf> {
  const there = { toScopeKind: 'feed', toScopeId: 'there' };
  const png = await makeImage('png');
  if (kind === 'asset') {
    const { request } = await uploaded(deps.objects, png);
    const outcome = await outcomeOf(deps, request);
    if (outcome !== 'created') throw new Error(`the source was ${outcome}`);
    return { ownerId: String(request.ownerId), request: { ...there, fromAssetId: request.assetId } };
  }
  const ownerId = randomUUID();
  const path = `${ownerId}/photo.png`;
  await deps.legacy.bucket('agent_message')?.put(path, png, { contentType: 'image/png' });
  return { ownerId, request: { ...there, fromAssetId: path, toOwnerId: ownerId } };
}

/** `copied`, or the code of the problem. */
export async function copyOutcome(deps: MediaContext, { request }: Pick<CopyOf, 'request'>): Promise<string> {
  try {
    await copyAsset(deps, { kind: 'internal' }, copyRequest.parse(request));
    return 'copied';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** What an owner has: each ready row is checked to have its object, and each object to have a row. */
export async function holdingsOf(database: Database, folder: string, ownerId: string) {
  const rows = await database
    .queries<MediaTables>()
    .selectFrom('assets')
    .select(['storage_key as storageKey', 'etag', 'ready_at as readyAt'])
    .where('owner_id', '=', ownerId)
    .execute();
  const objects = new Map<string, string>();
  for await (const { key, etag } of openFiles(folder).list(`u/${ownerId}/`)) objects.set(key, etag);
  const ready = rows.filter(({ readyAt }) => readyAt !== null);
  for (const { storageKey, etag } of ready)
    if (objects.get(storageKey) !== etag) throw new Error(`${storageKey} is ready without its object`);
  for (const key of objects.keys())
    if (!rows.some(({ storageKey }) => storageKey === key)) throw new Error(`${key} has no row`);
  return { ready: ready.length, unready: rows.length - ready.length, objects: objects.size };
}
