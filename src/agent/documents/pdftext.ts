/** The text of a PDF, extracted in a thread of its own that is bounded in time and memory. */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { createGate } from '#platform/concurrency/gate.ts';
import { createGates } from '#platform/concurrency/gates.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { PdfReply, PdfRequest } from './messages.ts';

const timeoutMs = 10_000;
const maxPages = 200;
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
const longestWait = { maxWaiting: 50, waitTimeoutMs: 20_000 };
/** A thread each. */
const gate = createGate({ width: 2, ...longestWait });
/** An owner has one thread at most, and so at most one document that waits for a thread: owners take turns. */
const gatesOfOwners = createGates({ width: 1, ...longestWait });
/** A document in a conversation is sent with each of its turns. In characters. */
const texts = new LRUCache<string, string>({ maxSize: 8_000_000, sizeCalculation: (text) => text.length + 1 });

/** `undefined`: it has more than 200 pages. Rejects for a broken document, and for one that takes too long. */
export async function extractPdfText(
  ownerId: string,
  bytes: Uint8Array,
  maxCharacters: number,
): Promise<string | undefined> {
  const key = `${maxCharacters} ${createHash('sha256').update(bytes).digest('base64url')}`;
  const known = texts.get(key);
  if (known !== undefined) return known;
  const leaveOwn = await gatesOfOwners.enter(ownerId);
  try {
    const leave = await gate.enter();
    try {
      const { text } = await runThread({ bytes: new Uint8Array(bytes), maxPages, maxCharacters });
      if (text !== undefined) texts.set(key, text);
      return text;
    } finally {
      leave();
    }
  } finally {
    leaveOwn();
  }
}

async function runThread(request: PdfRequest): Promise<PdfReply> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData: request, resourceLimits });
  const { promise, resolve, reject } = Promise.withResolvers<PdfReply>();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the PDF worker ended without a result')));
  try {
    return await withDeadline(timeoutMs, () => promise);
  } finally {
    await worker.terminate();
  }
}
