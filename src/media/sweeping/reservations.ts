/**
 * Uploads that were reserved and not registered in time: their bytes are removed, and then their rows, which gives the
 * bytes back to their owner. Any number of processes may do it at once, and each step can be repeated.
 */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import type { Log } from '#platform/log.ts';
import { findDeletable } from '../assets/assetstore.ts';
import type { MediaStores } from '../context.ts';
import { headsAtOnce } from '../lookup/assetlookup.ts';
import * as store from '../quota/reservationstore.ts';
import { unfinishedVideos } from './page.ts';
import { isJoined, removeUpload } from './uploads.ts';

const expiredPerPage = 100;
const longestPauseMs = 60_000;

/** Short enough for a short TTL. */
export function startExpiringReservations(deps: MediaStores & { readonly log: Pick<Log, 'warn'> }): Interval {
  return startInterval(
    Math.min(longestPauseMs, deps.limits.uploadTtlS * 1000),
    async (stopped) => {
      while (!stopped.aborted && (await expireReservations(deps)) === expiredPerPage);
    },
    (error) => deps.log.warn({ err: error }, 'expired uploads could not be removed'),
  );
}

/**
 * Ends at most a page of expired reservations, of one owner or of all. Returns how many rows are gone. Throws
 * `engine_unavailable`: what is not confirmed gone keeps its row.
 */
export async function expireReservations(deps: MediaStores, ownerId?: string): Promise<number> {
  const rows = await store.findExpired(deps.db, new Date(deps.clock.now()), ownerId, expiredPerPage);
  if (rows.length === 0) return 0;
  const assetIds = rows.map(({ assetId }) => assetId);
  const registered = new Map((await findDeletable(deps.db, assetIds)).map((row) => [row.assetId, row]));
  const videos = await unfinishedVideos(deps, rows);
  const ended = await mapConcurrently(rows, headsAtOnce, async (row) => {
    const until = videos.has(row.assetId)
      ? inTtl(deps)
      : await endUpload(deps, row, registered.get(row.assetId)?.storageKey);
    if (until === undefined) await store.dropReservation(deps.db, row);
    else await store.postponeReservation(deps.db, row, until);
    return until === undefined;
  });
  return ended.filter((isEnded) => isEnded).length;
}

/** `undefined`: nothing of it is left. Otherwise the time when it expires, because it is in use. */
async function endUpload(
  deps: MediaStores,
  row: store.StoredReservation,
  keyOfRow: string | undefined,
): Promise<Date | undefined> {
  const { objects, clock, limits } = deps;
  const { storageKey: key, uploadId: id } = row;
  const before = new Date(clock.now() - limits.uploadTtlS * 1000);
  // A settled row expired at once: its upload is complete.
  const idleBefore = row.byteSize === 0 ? new Date(clock.now() + 1) : before;
  if (id !== '' && !(await objects.resumable.discard({ id, key }, idleBefore))) return inTtl(deps);
  // The bytes of an asset, or of a registration in progress.
  if (keyOfRow === key) return (await store.isRegistered(deps.db, row.assetId, key)) ? undefined : inTtl(deps);
  const head = await objects.head(key);
  if (head === undefined) return undefined;
  const seenAt = isJoined(head.etag) ? (row.seenAt ?? new Date(clock.now())) : head.modifiedAt;
  if (row.seenAt === null) await store.noteObject(deps.db, row, head.size, seenAt);
  if (seenAt >= before) return new Date(seenAt.getTime() + limits.uploadTtlS * 1000);
  return (await removeUpload(deps, key, before)) ? undefined : inTtl(deps);
}

const inTtl = ({ clock, limits }: MediaStores) => new Date(clock.now() + limits.uploadTtlS * 1000);
