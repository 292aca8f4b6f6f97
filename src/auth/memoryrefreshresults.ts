/**
 * Refresh results in memory, for the lifetime of the process. After a restart, the provider returns the active token for the previous one.
 */
import { createLru } from '#platform/cache/cache.ts';
import type { RefreshResults, StoredResult } from './refreshresults.ts';

interface Row extends StoredResult {
  readonly attempt: string;
  readonly successor?: string | undefined;
  readonly subject?: string | undefined;
}

/** About two kilobytes each: enough for ten seconds of heavy traffic. */
const maxRows = 20_000;
/** A refresh must not evict a sign-out. Each has about 200 bytes, and only an unavailable provider leaves one. */
const maxSignedOut = 100_000;

export function createMemoryRefreshResults(): RefreshResults {
  const rows = createLru<string, Row>(maxRows);
  const signedOut = createLru<string, StoredResult>(maxSignedOut);
  const name = (hash: Buffer) => hash.toString('base64');
  const find = (tokenHash: Buffer) => signedOut.get(name(tokenHash)) ?? rows.get(name(tokenHash));
  return {
    claim: async (tokenHash, attempt, ttlMs) => {
      const outcome = find(tokenHash)?.outcome;
      if (outcome === null || outcome === 'ok' || outcome === 'signed_out') return false;
      rows.set(name(tokenHash), { attempt, outcome: null, sealed: null }, { ttl: ttlMs });
      return true;
    },
    find: async (tokenHash) => find(tokenHash),
    settle: async (tokenHash, attempt, settled, ttlMs) => {
      const row = rows.get(name(tokenHash));
      if (row === undefined || row.attempt !== attempt || row.outcome !== null) return;
      // The cache would treat a time of 0 as unlimited.
      if (ttlMs === 0) return void rows.delete(name(tokenHash));
      const { outcome, sealed = null, successorHash, subjectHash } = settled;
      const links = { successor: successorHash && name(successorHash), subject: subjectHash && name(subjectHash) };
      rows.set(name(tokenHash), { attempt, outcome, sealed, ...links }, { ttl: ttlMs });
    },
    drop: async (tokenHash, subjectHash) => {
      const token = name(tokenHash);
      const entries = [...rows.entries()];
      const own = entries.filter(([key, { successor }]) => key === token || successor === token);
      const subjects = new Set([...own.map(([, { subject }]) => subject), subjectHash && name(subjectHash)]);
      for (const [key, { successor, subject }] of entries)
        if (key === token || successor === token || (subject !== undefined && subjects.has(subject))) rows.delete(key);
    },
    markRevoked: async (tokenHash, _attempt, ttlMs) => {
      signedOut.set(name(tokenHash), { outcome: 'signed_out', sealed: null }, { ttl: ttlMs });
      rows.delete(name(tokenHash));
    },
    forget: async (tokenHash) => {
      signedOut.delete(name(tokenHash));
      rows.delete(name(tokenHash));
    },
    sweep: async () => {
      signedOut.purgeStale();
      rows.purgeStale();
    },
  };
}
