/**
 * A small, strongly blurred rendition of blocked content for operators, where the same bytes remain in the product: in the
 * asset that was copied, or in a legacy file. The blocked object itself is removed, with everything made of it. Operators must
 * see what they decide about, so reported and flagged content is also shown as it is.
 */
import type { Engine } from '#image/engine/engine.ts';
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { type LookupDeps, lookUpAssets } from '../lookup/assetlookup.ts';
import { mediaProblems } from '../problems.ts';
import { readUnchanged } from '../reading/unchanged.ts';
import { isUuid } from '../refs.ts';
import type { IncidentTables } from '../screening/incidentstore.ts';
import { findOrigin } from './appealstore.ts';

export interface PreviewDeps extends LookupDeps {
  readonly db: LookupDeps['db'] & Db<IncidentTables>;
  readonly engine: Pick<Engine, 'transform'>;
}

/** Shapes and colors remain, details do not. */
const sidePx = 24;
const sigma = 2;
const maxBytes = 64 * 1024 * 1024;

const blurred = {
  width: sidePx,
  height: sidePx,
  quality: 40,
  format: 'webp',
  resizingType: 'fit',
  enlarge: false,
  blur: sigma,
  maxBytes: 0,
  resampling: 'linear',
} as const;

const sharp = { ...blurred, width: 1024, height: 1024, quality: 80, blur: 0 } as const;

/** Returns WebP. Throws 404 if the incident is unknown, or if none of its bytes remain as an image. */
export async function renderPreview(deps: PreviewDeps, incidentId: string, isSharp: boolean): Promise<Uint8Array> {
  const found = await findOrigin(deps.db, incidentId);
  if (found === undefined) throw problems.not_found({ message: 'There is no such incident.' });
  // What was reported or flagged is still there, under its own id.
  const isThere = ['report', 'label'].includes(found.origin ?? '');
  const origin = isThere ? found.assetId : found.origin;
  if (isSharp && !isThere) throw mediaProblems.nothing_left_to_show();
  const place = origin === null ? undefined : await locate(deps, origin);
  const bytes = place && (await read(place.objects, place.key));
  if (bytes === undefined) throw mediaProblems.nothing_left_to_show();
  let output: Uint8Array | undefined;
  const deliver = (made: Uint8Array) => {
    output = made;
  };
  await deps.engine
    .transform(bytes, [{ transform: isSharp ? sharp : blurred, deliver }], found.ownerId)
    .catch((cause: unknown) => {
      throw mediaProblems.nothing_left_to_show({ cause });
    });
  if (output === undefined) throw mediaProblems.nothing_left_to_show();
  return output;
}

async function locate(deps: PreviewDeps, origin: string) {
  if (isUuid(origin)) {
    const found = (await lookUpAssets(deps, [origin], '')).get(origin);
    // A video is shown by its poster.
    const poster = found?.mime.startsWith('video/') ? found.row?.namedThumbId : undefined;
    const asset = poster ? (await lookUpAssets(deps, [poster], '')).get(poster) : found;
    return asset && { objects: asset.objects, key: asset.storageKey };
  }
  // Blocked paths resolve to nothing, so the file is read by its place.
  const end = origin.indexOf('/');
  const objects = deps.legacy.bucket(origin.slice(0, end));
  return objects && { objects, key: origin.slice(end + 1) };
}

async function read(objects: Objects, key: string): Promise<Uint8Array | undefined> {
  const head = await objects.head(key);
  if (head === undefined || head.size > maxBytes) return undefined;
  return (await readUnchanged(objects, key, { ifMatch: head.etag, whole: true }))?.bytes;
}
