/** The text of a PDF, extracted in a process of its own that the operating system limits. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { createGate, createGates } from '#platform/concurrency.ts';
import type { Db } from '#platform/db/db.ts';
import { ConfinementExceeded, runConfined } from '#platform/processes/confined.ts';
import type { AgentTables } from '../tables.ts';
import { isUnreadable, rememberUnreadable } from './unreadablestore.ts';

/** What the process answers. Without a text and a failure, the document has too many pages. */
export interface PdfReply {
  readonly text?: string;
  readonly failure?: string;
}

const limits = { memoryBytes: 256 * 1024 * 1024, timeoutMs: 20_000 };
const maxPages = 200;
/** The longest character takes six bytes of JSON. */
const outputBytes = (maxCharacters: number) => 6 * maxCharacters + 10_000;
const longestWait = { maxWaiting: 50, waitTimeoutMs: 20_000 };

export interface DocumentReader {
  /**
   * `undefined`: it is broken, has more than 200 pages, or exceeded the limits, after which it is never read again.
   * Rejects if the machine cannot read it now.
   */
  readPdf(ownerId: string, bytes: Uint8Array, maxCharacters: number): Promise<string | undefined>;
}

export function createDocumentReader(db: Db<AgentTables>): DocumentReader {
  /** A process each. */
  const gate = createGate({ width: 2, ...longestWait });
  /** An owner has one process at most, and so at most one document that waits for a process: owners take turns. */
  const gatesOfOwners = createGates({ width: 1, ...longestWait });
  /** A document in a conversation is sent with each of its turns. In characters. */
  const replies = new LRUCache<string, PdfReply>({
    maxSize: 8_000_000,
    sizeCalculation: ({ text = '' }) => text.length + 100,
  });
  return {
    readPdf: async (ownerId, bytes, maxCharacters) => {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const key = `${maxCharacters} ${sha256}`;
      const known = replies.get(key);
      if (known !== undefined) return known.text;
      const work = async () => {
        const reply = replies.get(key) ?? (await read(db, sha256, bytes, maxCharacters));
        replies.set(key, reply);
        return reply.text;
      };
      return gatesOfOwners.run(ownerId, () => gate.run(work));
    },
  };
}

async function read(db: Db<AgentTables>, sha256: string, input: Uint8Array, maxCharacters: number): Promise<PdfReply> {
  if (await isUnreadable(db, sha256)) return {};
  const args = [String(maxPages), String(maxCharacters)];
  try {
    const program = new URL('./process.ts', import.meta.url);
    const reply = await runConfined(program, { input, args, ...limits, maxOutputBytes: outputBytes(maxCharacters) });
    return JSON.parse(reply.toString());
  } catch (error) {
    if (!(error instanceof ConfinementExceeded)) throw error;
    await rememberUnreadable(db, sha256);
    return { failure: error.message };
  }
}
