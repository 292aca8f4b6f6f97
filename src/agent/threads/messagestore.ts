/** The messages of threads. A thread counts its messages and their bytes, so that its limits need no scan. */
import type { UIMessage } from 'ai';
import { sql } from 'kysely';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';
import { searchable } from '#platform/storable.ts';
import { textsOf } from '../attachments.ts';
import type { AgentTables, TitleSource } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

const messageColumns = ['id', 'role', 'parts', 'metadata', 'created_at as createdAt'] as const;

export type StoredMessage = Awaited<ReturnType<typeof listMessages>>[number];

/** In ascending order. */
const messagesOf = (db: Handle, threadId: string) =>
  db.selectFrom('agent_messages').select(messageColumns).where('thread_id', '=', threadId).orderBy('seq');

/** Those from one `seq` to another, or all. */
export function listMessages(db: Handle, threadId: string, range?: { readonly from: number; readonly to: number }) {
  return messagesOf(db, threadId)
    .$if(range !== undefined, (query) =>
      query.where('seq', '>=', Number(range?.from)).where('seq', '<=', Number(range?.to)),
    )
    .execute();
}

export const listFirstMessages = (db: Handle, threadId: string, limit: number): Promise<readonly StoredMessage[]> =>
  messagesOf(db, threadId).limit(limit).execute();

/** The question and the answer of a run, if they are still there. */
export const listMessagesOf = (db: Handle, threadId: string, taskId: string): Promise<readonly StoredMessage[]> =>
  messagesOf(db, threadId).where('task_id', '=', taskId).execute();

/** Ids and sizes of all messages, in ascending order. An answer in progress is in its stream alone, also if a run goes on with it. */
export function listMessageSizes(db: Handle, threadId: string) {
  return db
    .selectFrom('agent_messages')
    .select(['id', 'seq', 'bytes'])
    .where('thread_id', '=', threadId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('agent_runs')
            .select('task_id')
            .whereRef('agent_runs.message_id', '=', 'agent_messages.id')
            .where('agent_runs.thread_id', '=', threadId)
            .where('status', '=', 'running'),
        ),
      ),
    )
    .orderBy('seq')
    .execute();
}

/** The newest of them that have at most `maxBytes` together, and the last in any case; in ascending order. */
export function listRecentMessages(db: Handle, threadId: string, maxBytes: number): Promise<readonly StoredMessage[]> {
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom('agent_messages')
        .select([...messageColumns, 'seq', 'bytes', sql<number>`sum(bytes) over (order by seq desc)`.as('bytesFrom')])
        .where('thread_id', '=', threadId)
        .as('counted'),
    )
    .select(['id', 'role', 'parts', 'metadata', 'createdAt'])
    .where((eb) => eb.or([eb('bytesFrom', '<=', maxBytes), eb('bytesFrom', '=', eb.ref('bytes'))]))
    .orderBy('seq')
    .execute();
}

/** Those that show an image, whether attached or made. */
export const listMessagesWithImages = (db: Handle, threadId: string): Promise<readonly StoredMessage[]> =>
  messagesOf(db, threadId)
    .where(sql<boolean>`parts @? '$[*] ? (@.type == "file" || @.output.kind == "image")'`)
    .execute();

export function findMessage(db: Handle, threadId: string, id: string) {
  return db
    .selectFrom('agent_messages')
    .select([...messageColumns, 'seq', 'task_id as taskId'])
    .where((eb) => eb.and({ thread_id: threadId, id }))
    .executeTakeFirst();
}

export interface NewMessage {
  readonly threadId: string;
  readonly id: string;
  readonly ownerId: string;
  readonly role: 'user' | 'assistant';
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The run that the message starts, or that it answers for. */
  readonly taskId?: string;
}

/** What a thread may hold. */
export interface ThreadLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** As the thread's last message; the first one gives the thread its title. `false`: with it the thread would exceed `limits`, and nothing is written. */
export async function appendMessage(
  tx: Tx<AgentTables>,
  message: NewMessage,
  limits: ThreadLimits | undefined,
): Promise<boolean> {
  const [parts, metadata] = [JSON.stringify(message.parts), JSON.stringify(message.metadata)];
  const bytes = Buffer.byteLength(parts) + Buffer.byteLength(metadata);
  return tx
    .with('thread', (db) =>
      db
        .updateTable('agent_threads')
        .set((eb) => ({
          last_seq: eb('last_seq', '+', 1),
          message_count: eb('message_count', '+', 1),
          message_bytes: eb('message_bytes', '+', bytes),
          updated_at: sql<Date>`date_trunc('milliseconds', clock_timestamp())`,
          ...titleOf(message),
        }))
        .where('thread_id', '=', message.threadId)
        .$if(limits !== undefined, (query) =>
          query
            .where('message_count', '<', Number(limits?.messages))
            .where('message_bytes', '<=', Number(limits?.bytes) - bytes),
        )
        .returning(['thread_id', 'last_seq']),
    )
    .insertInto('agent_messages')
    .columns(['thread_id', 'seq', 'id', 'resource_id', 'role', 'parts', 'metadata', 'bytes', 'task_id', 'search_text'])
    .expression((eb) =>
      eb
        .selectFrom('thread')
        .select([
          'thread_id',
          'last_seq',
          sql`${message.id}::text`.as('id'),
          sql`${message.ownerId}::uuid`.as('resource_id'),
          sql`${message.role}::text`.as('role'),
          sql`${parts}::jsonb`.as('parts'),
          sql`${metadata}::jsonb`.as('metadata'),
          sql`${bytes}::integer`.as('bytes'),
          sql`${message.taskId ?? null}::uuid`.as('task_id'),
          sql`${searchText(message.parts)}::text`.as('search_text'),
        ]),
    )
    .$call(hasChanged);
}

/** Replaces the parts and the metadata of a message. The thread has to be locked. */
export async function changeMessage(
  tx: Tx<AgentTables>,
  message: Pick<NewMessage, 'threadId' | 'id' | 'parts' | 'metadata'>,
): Promise<void> {
  const [parts, metadata] = [JSON.stringify(message.parts), JSON.stringify(message.metadata)];
  const bytes = Buffer.byteLength(parts) + Buffer.byteLength(metadata);
  await sql`
    with former as (
      select bytes from agent_messages where thread_id = ${message.threadId} and id = ${message.id}
    ), changed as (
      update agent_messages
      set parts = ${parts}::jsonb, metadata = ${metadata}::jsonb, bytes = ${bytes}::integer,
        search_text = ${searchText(message.parts)}::text
      where thread_id = ${message.threadId} and id = ${message.id}
    )
    update agent_threads
    set message_bytes = message_bytes + ${bytes}::integer - (select bytes from former),
      updated_at = date_trunc('milliseconds', clock_timestamp())
    where thread_id = ${message.threadId} and exists (select from former)`.execute(tx);
}

/** A thread that was rewound to its beginning gets a title of its new first message, unless the user has set one. */
function titleOf({ role, parts }: NewMessage) {
  if (role !== 'user') return {};
  const isTitled = sql`title_source = 'user' or (message_count > 0 and title <> '')`;
  return {
    title: sql<string>`case when ${isTitled} then title else ${firstWords(parts)} end`,
    title_source: sql<TitleSource>`case when ${isTitled} then title_source else 'words' end`,
  };
}

// Questions: the messages of users that runs answer.

/** The message itself if it is a user's, and otherwise the user's message before it. `undefined`: the thread has neither. */
export function findQuestionOf(db: Db<AgentTables>, threadId: string, messageId: string) {
  return db
    .selectFrom('agent_messages')
    .select(['id', 'parts', 'metadata'])
    .where((eb) => eb.and({ thread_id: threadId, role: 'user' }))
    .where('seq', '<=', (eb) =>
      eb.selectFrom('agent_messages').select('seq').where('thread_id', '=', threadId).where('id', '=', messageId),
    )
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

// The words of messages: the first title of a thread, and the texts that the search looks through.

type Parts = UIMessage['parts'];

/** Of a title, in Unicode code points. */
const maxTitleLength = 60;
const wholeWords = new RegExp(`^(.{1,${maxTitleLength}})\\s`, 'u');

/** The first words of a message, or the name of its first file. Empty if it has neither. */
function firstWords(parts: Parts): string {
  const words = textsOf(parts).join(' ').replace(/\s+/g, ' ').trim();
  if (words !== '') return cut(words);
  const filename = parts.find((part) => part.type === 'file' && part.filename !== undefined);
  return filename?.type === 'file' ? cut((filename.filename ?? '').trim()) : '';
}

function cut(words: string): string {
  const characters = [...words];
  if (characters.length <= maxTitleLength) return words;
  return wholeWords.exec(words)?.[1] ?? characters.slice(0, maxTitleLength).join('');
}

/** The texts of a message as they are stored for the search. */
function searchText(parts: Parts): string {
  return searchable(textsOf(parts).join(' '));
}
