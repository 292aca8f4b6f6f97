/** Copies of blocked objects that no incident names: the process died before the block, or the block was repeated. */
import type { ListedObject } from '#platform/objects/objects.ts';
import type { MediaStores } from '../context.ts';
import { removeAll } from '../deletion/removal.ts';
import { findKept } from '../quarantine/evidencestore.ts';
import { quarantinePrefix } from '../quarantine/quarantine.ts';
import type { SweepFinding } from './api.ts';
import { oldBefore, type SweepPage, type SweepPageRequest } from './page.ts';

const keysPerPage = 1000;

export async function sweepEvidence(
  { db, objects, clock }: MediaStores,
  { apply, after, aloneSince }: SweepPageRequest,
): Promise<SweepPage> {
  const listed: ListedObject[] = [];
  for await (const object of objects.list(quarantinePrefix, after)) {
    listed.push(object);
    if (listed.length === keysPerPage) break;
  }
  const named = await findKept(
    db,
    listed.map(({ key }) => key),
  );
  const before = oldBefore(clock);
  const orphans = listed.filter(
    ({ key, modifiedAt }) =>
      !named.has(key) && modifiedAt < before && (aloneSince === undefined || modifiedAt > aloneSince),
  );
  if (apply && orphans.length > 0)
    await removeAll(
      objects,
      orphans.map(({ key }) => key),
    );
  const found = orphans.map(
    ({ key, size }): SweepFinding => ({
      what: 'evidence_without_incident',
      fate: apply ? 'removed' : 'found',
      key,
      byteSize: size,
    }),
  );
  return { found, next: listed.length < keysPerPage ? undefined : listed.at(-1)?.key };
}
