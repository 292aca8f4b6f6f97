/** `GET /threads` and `GET /threads/:threadId` (docs/specification/agent.md#threads). */
import { invalid, problems } from '#platform/problem.ts';
import { searchWords } from '#platform/searching.ts';
import { type ThreadInfo, type ThreadListing, threadId as threadIdForm } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { findThread, listThreads, type Thread, type ThreadPlace } from '../store/threadstore.ts';
import { checkThread } from './access.ts';
import { searchThreads } from './searching.ts';

export interface ThreadPage {
  threads: ThreadInfo[];
  next_cursor: string | null;
}

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
      ? await listThreads(db, userId, after, limit + 1, trashed === 'true')
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
  const thread = await findThread(deps.db, threadId);
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
}: Thread): ThreadInfo {
  return {
    threadId,
    title,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    messageCount,
    runningTaskId,
    trashedAt: trashedAt?.toISOString() ?? null,
  };
}

const writeCursor = ({ updatedAt, threadId }: Thread) =>
  Buffer.from(`${updatedAt.getTime()} ${threadId}`).toString('base64url');

function readCursor(text: string): ThreadPlace {
  const [, ms, id] = /^(\d{1,15}) (\S+)$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  const { data: threadId } = threadIdForm.safeParse(id);
  if (ms === undefined || threadId === undefined) throw invalid('querystring.cursor', 'must be a next_cursor');
  return { updatedAtMs: Number(ms), threadId };
}
