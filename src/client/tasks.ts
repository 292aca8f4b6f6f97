/** Runs of the agent service: started, found and stopped, over a network that fails. */
import type { TaskRequest } from './agent/api.ts';
import { type AgentCalls, agentCalls } from './agent/calls.ts';
import { type Access, callVoid, request } from './calling.ts';
import { AtelierError, parseObject, refusalOf } from './errors.ts';
import { createPauses } from './pausing.ts';

export type TaskStart = Pick<TaskRequest, 'threadId' | 'rewindTo'> & { readonly message: { readonly id: string } };

/**
 * The id of the run: the one that was started, or the one that the thread has in flight already (docs/specification/agent.md#runs). A
 * start whose answer is lost is looked for before it is repeated, so that nothing is said twice. `signal` ends the
 * waiting between tries only: a run that starts while we turn away would go on unseen.
 */
export async function startPatiently(access: Access, start: TaskStart, signal?: AbortSignal): Promise<string> {
  const pauses = createPauses(access.patience, signal);
  const agent = agentCalls(access);
  let body = start;
  for (;;) {
    try {
      return await post(access, body);
    } catch (error) {
      if (isUnknownRewind(error) && body.rewindTo !== undefined) {
        // What is to give way was never taken, or has given way in a try before: there is nothing to drop.
        body = { ...body, rewindTo: undefined };
        continue;
      }
      await pauses.pause(error);
      // A 503 says that nothing was begun; no answer, or that of a proxy, says nothing.
      const isCertain = error instanceof AtelierError && error.status === 503;
      const found = isCertain ? undefined : await findStarted(agent, body, signal);
      if (found !== undefined) return found;
    }
  }
}

async function post(access: Access, body: TaskStart): Promise<string> {
  const response = await request(access, '/task', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) {
    const refusal = await refusalOf(response);
    if (response.status === 409 && typeof refusal.body.taskId === 'string') return refusal.body.taskId;
    throw refusal;
  }
  const { taskId } = parseObject(await response.text()) ?? {};
  if (typeof taskId === 'string') return taskId;
  throw new AtelierError('unexpected_answer', 'The start of a run was answered without its id.');
}

const isUnknownRewind = (error: unknown) =>
  error instanceof AtelierError && error.status === 400 && error.fields.includes('body.rewindTo');

/** The run that answers this message, if the message arrived. One that was there before says nothing. */
async function findStarted(
  agent: AgentCalls,
  { threadId, message, rewindTo }: TaskStart,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { task } = await agent.readCurrentTask(threadId, { signal });
  if (task !== null) return task.taskId;
  if (rewindTo !== undefined) return undefined;
  const { messages } = await agent.readMessages(threadId, { signal });
  const index = messages.findIndex(({ id }) => id === message.id);
  const answer = index === -1 ? undefined : messages[index + 1];
  const taskId = answer?.role === 'assistant' ? answer.metadata.taskId : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}

/** Done as well as can be: a run that is gone needs no stopping. `keepalive`: also when the page is being left. */
export async function stopPatiently(access: Access, taskId: string): Promise<void> {
  const path = `/task/${encodeURIComponent(taskId)}`;
  await callVoid(access, { method: 'DELETE', path, repeatable: true, keepalive: true }).catch(() => undefined);
}
