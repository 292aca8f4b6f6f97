/** Questions: the messages of users that runs answer. */
import type { Db } from '#platform/db/db.ts';
import type { RunTables } from './runstore.ts';

/** The message itself if it is a user's, and otherwise the user's message before it. `undefined`: the thread has neither. */
export function findQuestionOf(db: Db<RunTables>, threadId: string, messageId: string) {
  return db
    .selectFrom('agent_messages')
    .select(['id', 'parts', 'metadata'])
    .where('thread_id', '=', threadId)
    .where('role', '=', 'user')
    .where('seq', '<=', (eb) =>
      eb.selectFrom('agent_messages').select('seq').where('thread_id', '=', threadId).where('id', '=', messageId),
    )
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}
