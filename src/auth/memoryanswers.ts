/** Answers of one process, for as long as it lives: after that the provider gives the active token to the one before it. */
import { LRUCache } from 'lru-cache';
import type { Answers, Kept } from './answers.ts';

interface Row extends Kept {
  readonly attempt: string;
  readonly successor?: string | undefined;
  readonly subject?: string | undefined;
}

/** Some two kilobytes each: what ten seconds of many refreshes bring. */
const maxRows = 20_000;

export function createMemoryAnswers(): Answers {
  const rows = new LRUCache<string, Row>({ max: maxRows });
  const name = (hash: Buffer) => hash.toString('base64');
  return {
    claim: async (tokenHash, attempt, ttlMs) => {
      const outcome = rows.get(name(tokenHash))?.outcome;
      if (outcome === null || outcome === 'ok' || outcome === 'signed_out') return false;
      rows.set(name(tokenHash), { attempt, outcome: null, sealed: null }, { ttl: ttlMs });
      return true;
    },
    find: async (tokenHash) => rows.get(name(tokenHash)),
    settle: async (tokenHash, attempt, settled, keptMs) => {
      const row = rows.get(name(tokenHash));
      if (row === undefined || row.attempt !== attempt || row.outcome !== null) return;
      // To the cache no time at all would mean for ever.
      if (keptMs === 0) return void rows.delete(name(tokenHash));
      const { outcome, sealed = null, successorHash, subjectHash } = settled;
      const kin = { successor: successorHash && name(successorHash), subject: subjectHash && name(subjectHash) };
      rows.set(name(tokenHash), { attempt, outcome, sealed, ...kin }, { ttl: keptMs });
    },
    drop: async (tokenHash, subjectHash) => {
      const token = name(tokenHash);
      const held = [...rows.entries()];
      const own = held.filter(([key, { successor }]) => key === token || successor === token);
      const subjects = new Set([...own.map(([, { subject }]) => subject), subjectHash && name(subjectHash)]);
      for (const [key, { outcome, successor, subject }] of held) {
        const isKin = key === token || successor === token || (subject !== undefined && subjects.has(subject));
        if (isKin && outcome !== 'signed_out') rows.delete(key);
      }
    },
    bury: async (tokenHash, attempt, ttlMs) => {
      rows.set(name(tokenHash), { attempt, outcome: 'signed_out', sealed: null }, { ttl: ttlMs });
    },
    forget: async (tokenHash) => void rows.delete(name(tokenHash)),
    sweep: async () => void rows.purgeStale(),
  };
}
