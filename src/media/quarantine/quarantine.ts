/**
 * Blocked objects as evidence (docs/specification/media.md#quarantine): encrypted copies that are written before the incident, and
 * removed when their days are over. If the process dies, the copy has no incident, and the next block of the same bytes
 * replaces it, or a sweep removes it.
 */
import { Readable } from 'node:stream';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import { type ObjectBody, ObjectChanged, type Objects } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { startIdleDeadline } from '#platform/resilience/deadline.ts';
import { removeAll } from '../deletion/removal.ts';
import { mediaProblems } from '../problems.ts';
import type { IncidentTables } from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';
import { dropEvidence, findEvidence, findExpired, findLabeled } from './evidencestore.ts';
import { SealBroken, seal, sealedSize, unseal } from './sealing.ts';

export const quarantinePrefix = 'quarantine/';
const contentType = 'application/octet-stream';
const dayMs = 86_400_000;
const batch = 100;
/** As for copies. */
const idleMs = 8000;

/** Of what was blocked. */
export interface Bytes {
  readonly assetId: string;
  readonly storageKey: string;
  readonly etag: string;
}

export interface Quarantine {
  /** Returns until when the copy is retained. `undefined`: no key is set, or the object is not there any more. */
  keep(bytes: Bytes, sha256: string, match: Match): Promise<Date | undefined>;
  /** Throws 404 `no_evidence` and 409 `evidence_locked`. */
  open(incidentId: string): Promise<AsyncIterable<Buffer>>;
  /** Removes copies whose days are over. */
  expire(): Promise<void>;
  /** Removes what a rule about labels blocked. Prohibited content stays until its days are over. */
  forget(ownerId: string): Promise<void>;
}

export interface QuarantineDeps {
  readonly objects: Objects;
  readonly db: Db<IncidentTables>;
  readonly clock: Clock;
  readonly settings: { readonly quarantineKey: string | undefined; readonly quarantineDays: number };
}

/** The same bytes under the same id are one copy. */
export function evidenceKeyOf(assetId: string, sha256: string, isLabel: boolean): string {
  return `${quarantinePrefix}${assetId}/${sha256}${isLabel ? '-label' : ''}`;
}

/** Decrypts one object, for `doctor`. `none`: there is none. */
export async function probeQuarantine(
  objects: Pick<Objects, 'list' | 'get'>,
  quarantineKey: string | undefined,
): Promise<'none' | 'opened' | 'locked' | 'broken'> {
  for await (const { key } of objects.list(quarantinePrefix)) {
    if (quarantineKey === undefined) return 'locked';
    const body = await objects.get(key);
    if (body === undefined) continue;
    try {
      await unseal(Buffer.from(quarantineKey, 'base64'), key, body.stream).next();
      return 'opened';
    } catch (error) {
      if (error instanceof SealBroken) return 'broken';
      throw error;
    } finally {
      body.stream.destroy();
    }
  }
  return 'none';
}

export function createQuarantine({ objects, db, clock, settings }: QuarantineDeps): Quarantine {
  const { quarantineKey, quarantineDays } = settings;
  const secret = quarantineKey === undefined ? undefined : Buffer.from(quarantineKey, 'base64');

  async function remove(rows: Awaited<ReturnType<typeof findExpired>>): Promise<void> {
    if (rows.length === 0) return;
    await removeAll(
      objects,
      rows.map(({ key }) => key),
    );
    await dropEvidence(db, rows);
  }

  return {
    keep: async ({ assetId, storageKey, etag }, sha256, match) => {
      if (secret === undefined) return undefined;
      const key = evidenceKeyOf(assetId, sha256, match.check === 'label');
      const deadline = startIdleDeadline(idleMs);
      let body: ObjectBody | undefined;
      try {
        body = await objects.get(storageKey, { ifMatch: etag, signal: deadline.signal });
        if (body === undefined) return undefined;
        const sealed = Readable.from(touching(seal(secret, key, body.stream), deadline), { objectMode: false });
        await deadline.race(objects.put(key, sealed, { contentType, size: sealedSize(body.size) }));
      } catch (error) {
        if (error instanceof ObjectChanged) return undefined;
        throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
      } finally {
        deadline.stop();
        // A generator that has not started closes nothing.
        body?.stream.destroy();
      }
      return new Date(clock.now() + quarantineDays * dayMs);
    },
    open: async (incidentId) => {
      const found = await findEvidence(db, incidentId);
      if (found === undefined) throw problems.not_found({ message: 'There is no such incident.' });
      const body = found.key === null ? undefined : await objects.get(found.key);
      if (found.key === null || body === undefined) throw mediaProblems.no_evidence();
      if (secret === undefined) {
        body.stream.destroy();
        throw mediaProblems.evidence_locked();
      }
      const chunks = unseal(secret, found.key, body.stream);
      // The first chunk shows whether the key is right, while there can be another response.
      const first = await chunks.next().catch((error: unknown) => {
        throw error instanceof SealBroken ? mediaProblems.evidence_locked({ cause: error }) : error;
      });
      return (async function* () {
        if (!first.done) yield first.value;
        yield* chunks;
      })();
    },
    expire: async () => {
      for (;;) {
        const rows = await findExpired(db, new Date(clock.now()), batch);
        await remove(rows);
        if (rows.length < batch) return;
      }
    },
    forget: async (ownerId) => {
      for (;;) {
        const rows = await findLabeled(db, ownerId, batch);
        await remove(rows);
        if (rows.length < batch) return;
      }
    },
  };
}

async function* touching(chunks: AsyncIterable<Buffer>, deadline: { touch(): void }): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    deadline.touch();
    yield chunk;
  }
}
