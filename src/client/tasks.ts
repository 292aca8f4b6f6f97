/** Starts, finds and stops runs of the agent service over an unreliable network. */
import type { TaskRequest } from './agent/api.ts';
import { type AgentCalls, agentCalls } from './agent/calls.ts';
import { type Access, callVoid, defaultTimeoutMs, request } from './calling.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { createPauses } from './pausing.ts';

export type TaskStart = Pick<TaskRequest, 'threadId' | 'rewindTo'> & { readonly message: { readonly id: string } };

/**
 * Returns the id of the run: the started one, or the one that the thread already has in flight
 * (docs/specification/agent.md#runs). If the response to a start is lost, the client looks for the run before it
 * retries, so that no message is sent twice. `signal` ends only the waiting between attempts, because a later start of
 * the run would go unnoticed.
 */
export async function startWithRetries(access: Access, start: TaskStart, signal?: AbortSignal): Promise<string> {
  const pauses = createPauses(access.patience, signal);
  const agent = agentCalls(access);
  let body = start;
  for (;;) {
    try {
      return await post(access, body);
    } catch (error) {
      if (isUnknownRewind(error) && body.rewindTo !== undefined) {
        // The message to rewind to was never accepted, or an earlier attempt has already removed it.
        body = { ...body, rewindTo: undefined };
        continue;
      }
      await pauses.pause(error);
      // A 503 of the service means that no run was started. A missing response, or one of a proxy, means nothing.
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
    // A lost response: the run is then looked for.
    signal: AbortSignal.timeout(access.timeoutMs ?? defaultTimeoutMs),
  });
  if (response.status !== 201) {
    const refusal = await errorOf(response);
    if (response.status === 409 && typeof refusal.body.taskId === 'string') return refusal.body.taskId;
    throw refusal;
  }
  const { taskId } = parseObject(await response.text()) ?? {};
  if (typeof taskId === 'string') return taskId;
  throw new AtelierError('unexpected_answer', 'The response to a start has no run id.');
}

const isUnknownRewind = (error: unknown) =>
  error instanceof AtelierError && error.status === 400 && error.fields.includes('body.rewindTo');

/** Finds the run that answers this message, if the message arrived. A message that already existed proves nothing. */
async function findStarted(
  agent: AgentCalls,
  { threadId, message, rewindTo }: TaskStart,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { task } = await agent.readCurrentTask(threadId, {}, { signal });
  if (task !== null) return task.taskId;
  if (rewindTo !== undefined) return undefined;
  const { messages } = await agent.readMessages(threadId, {}, { signal });
  const index = messages.findIndex(({ id }) => id === message.id);
  const answer = index === -1 ? undefined : messages[index + 1];
  const taskId = answer?.role === 'assistant' ? answer.metadata.taskId : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
}

/** Makes a best effort: a run that does not exist need not be stopped. `keepalive`: even if the user leaves the page. */
export async function stopWithRetries(access: Access, taskId: string): Promise<void> {
  const path = `/task/${encodeURIComponent(taskId)}`;
  await callVoid(access, { method: 'DELETE', path, repeatable: true, keepalive: true }).catch(() => undefined);
}
