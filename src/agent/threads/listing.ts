/** `GET /threads` and `GET /threads/:threadId` (docs/specification/agent.md#threads). */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Db } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import { searchWords } from '#platform/storable.ts';
import { type ThreadInfo, type ThreadListing, type ThreadPage, threadId as threadIdForm } from '../api.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { checkThread } from './changes.ts';
import { listMessageSizes } from './messagestore.ts';
import * as store from './threadstore.ts';

/** Each word of a search costs a look at the texts of the user. */
const maxWords = 10;

/**
 * The user's threads, the one with the newest message first. Throws 400 for a cursor that is none, and for a long search. The
 * signal ends a search.
 */
export async function readThreads(
  { db }: AgentContext,
  userId: string,
  { limit, cursor, q = '', trashed }: Pick<ThreadListing, 'limit' | 'cursor' | 'q' | 'trashed'>,
  signal?: AbortSignal,
): Promise<ThreadPage> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const words = searchWords(q);
  if (words.length > 0 && trashed === 'true') throw invalid('querystring.q', 'does not search the trash');
  if (words.length > maxWords) throw invalid('querystring.q', `must have at most ${maxWords} words`);
  // One row more than the page shows whether there is another page.
  const rows =
    words.length === 0
      ? await store.listThreads(db, userId, after, limit + 1, trashed === 'true')
      : await searchThreads(db, { ownerId: userId, words, after, limit: limit + 1 }, signal);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { threads: page.map(describe), next_cursor: last === undefined ? null : writeCursor(last) };
}

/** Throws 404 for an unknown thread, and 403 for the thread of another user than `userId`. */
export async function readThread(
  deps: AgentContext,
  userId: string | undefined,
  threadId: string,
): Promise<ThreadInfo> {
  await checkThread(deps, userId, threadId);
  const thread = await store.findThread(deps.db, threadId);
  if (thread === undefined) throw problems.not_found();
  return describe(thread);
}

function describe({
  threadId,
  title,
  createdAt,
  updatedAt,
  messageCount,
  runningTaskId,
  trashedAt,
  temporary,
}: store.Thread): ThreadInfo {
  return {
    threadId,
    title,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    messageCount,
    runningTaskId,
    trashedAt: trashedAt?.toISOString() ?? null,
    ...(temporary && { temporary }),
  };
}

const writeCursor = ({ updatedAt, threadId }: store.Thread) =>
  Buffer.from(`${updatedAt.getTime()} ${threadId}`).toString('base64url');

function readCursor(text: string): store.ThreadPlace {
  const [, ms, id] = /^(\d{1,15}) (\S+)$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  const { data: threadId } = threadIdForm.safeParse(id);
  if (ms === undefined || threadId === undefined) throw invalid('querystring.cursor', 'must be a next_cursor');
  return { updatedAtMs: Number(ms), threadId };
}

// Searches the titles and texts of a user's threads. It reads them in pieces and lets other requests in between, because a user can
// have gigabytes of text, and the embedded database blocks the process during a query.

interface ThreadSearch {
  readonly ownerId: string;
  /** Each has to occur in the title or in a message. In the form of `searchWords`. */
  readonly words: readonly string[];
  readonly after: store.ThreadPlace | undefined;
  readonly limit: number;
}

const candidatesAtOnce = 50;
/** Bytes of messages times words. PGlite compares this much in some 15 ms. */
const piece = 4 * 1024 * 1024;
/** Greater than the `seq` of any message. */
const lastSeq = 2 ** 31 - 1;

/** In the order of the list. Rejects with the reason of the signal. */
export async function searchThreads(
  db: Db<AgentTables>,
  { ownerId, words, after, limit }: ThreadSearch,
  signal?: AbortSignal,
): Promise<readonly store.Thread[]> {
  const found: string[] = [];
  for (let place = after; found.length < limit; ) {
    const candidates = await store.listCandidates(db, ownerId, words, place, candidatesAtOnce);
    found.push(...(await findMatches(db, words, candidates, signal)));
    const last = candidates.at(-1);
    if (last === undefined || candidates.length < candidatesAtOnce) break;
    place = { updatedAtMs: last.updatedAt.getTime(), threadId: last.threadId };
  }
  // Since then, a thread may have been deleted, and its id taken by another user.
  return store.findThreads(db, ownerId, found.slice(0, limit));
}

async function findMatches(
  db: Db<AgentTables>,
  words: readonly string[],
  candidates: readonly store.Candidate[],
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const lacking = new Map(candidates.map((candidate) => [candidate.threadId, new Set(candidate.lacking)]));
  const wanted = candidates.filter((candidate) => candidate.lacking.length > 0);
  for await (const ranges of piecesOf(db, wanted, piece / words.length)) {
    await yieldToEventLoop();
    signal?.throwIfAborted();
    for (const { threadId, word } of await store.findWords(db, words, ranges)) lacking.get(threadId)?.delete(word);
  }
  return candidates.flatMap(({ threadId }) => (lacking.get(threadId)?.size === 0 ? [threadId] : []));
}

/** Cuts the messages of the threads into pieces of at most `maxBytes`, or of one message that is larger. */
async function* piecesOf(
  db: Db<AgentTables>,
  threads: readonly store.Candidate[],
  maxBytes: number,
): AsyncGenerator<readonly store.MessageRange[]> {
  let ranges: store.MessageRange[] = [];
  let bytes = 0;
  for (const { threadId, messageBytes } of threads) {
    const isSmall = messageBytes <= maxBytes;
    const parts = isSmall
      ? [{ from: 0, to: lastSeq, bytes: messageBytes }]
      : (await listMessageSizes(db, threadId)).map((message) => ({ ...message, from: message.seq, to: message.seq }));
    for (const part of parts) {
      if (bytes + part.bytes > maxBytes && ranges.length > 0) {
        yield ranges;
        [ranges, bytes] = [[], 0];
      }
      ranges.push({ threadId, from: part.from, to: part.to });
      bytes += part.bytes;
    }
  }
  if (ranges.length > 0) yield ranges;
}
