/** Runs of the agent service: started, found and stopped, over a network that fails. */
import { type AgentAccess, createPauses, readJson, request, requestPatiently } from './calling.ts';
import { ProtocolError, parseObject, refusalOf, ServiceError } from './errors.ts';

export interface TaskStart {
  readonly threadId: string;
  readonly message: { readonly id: string };
  readonly rewindTo?: string;
}

/**
 * The id of the run: the one that was started, or the one that the thread has in flight already (document 001, 409). A
 * start whose answer is lost is looked for before it is repeated, so that nothing is said twice. `signal` ends the
 * waiting between tries only: a run that starts while we turn away would go on unseen.
 */
export async function startTask(access: AgentAccess, start: TaskStart, signal?: AbortSignal): Promise<string> {
  const pauses = createPauses(access, signal);
  let body: TaskStart = start;
  for (;;) {
    try {
      return await post(access, body);
    } catch (error) {
      if (error instanceof ServiceError && isUnknownRewind(error) && body.rewindTo !== undefined) {
        // What is to give way was never taken, or has given way in a try before: there is nothing to drop.
        body = { ...body, rewindTo: undefined } as TaskStart & { rewindTo: undefined };
        continue;
      }
      await pauses.pause(error);
      // A 503 says that nothing was begun; no answer, or that of a proxy, says nothing.
      const isCertain = error instanceof ServiceError && error.status === 503;
      const found = isCertain ? undefined : await findStarted(access, body, signal);
      if (found !== undefined) return found;
    }
  }
}

async function post(access: AgentAccess, body: TaskStart): Promise<string> {
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
  if (typeof taskId !== 'string') throw new ProtocolError('The start of a run was answered without its id.');
  return taskId;
}

const isUnknownRewind = ({ status, issues }: ServiceError) =>
  status === 400 && issues.some(({ path }) => path === 'body.rewindTo');

/** The run that answers this message, if the message arrived. One that was there before says nothing. */
async function findStarted(
  access: AgentAccess,
  { threadId, message, rewindTo }: TaskStart,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const running = await findCurrentTask(access, threadId, signal);
  if (running !== null) return running;
  if (rewindTo !== undefined) return undefined;
  const { messages } = await readJson(access, `/messages/${threadId}`, { signal: signal ?? null });
  const list = Array.isArray(messages) ? messages : [];
  const answer = list[list.findIndex(({ id }) => id === message.id) + 1];
  const taskId: unknown = answer?.role === 'assistant' ? answer.metadata?.taskId : undefined;
  return list.some(({ id }) => id === message.id) && typeof taskId === 'string' ? taskId : undefined;
}

/** `null`: the thread has none in flight. */
export async function findCurrentTask(
  access: AgentAccess,
  threadId: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const path = `/thread/${encodeURIComponent(threadId)}/current-task`;
  const { task } = await readJson(access, path, { signal: signal ?? null });
  const taskId: unknown = typeof task === 'object' && task !== null ? Reflect.get(task, 'taskId') : null;
  return typeof taskId === 'string' ? taskId : null;
}

/** Done as well as can be: a run that is gone needs no stopping. `keepalive`: also when the page is being left. */
export async function stopTask(access: AgentAccess, taskId: string): Promise<void> {
  await requestPatiently(access, `/task/${encodeURIComponent(taskId)}`, { method: 'DELETE', keepalive: true }).catch(
    () => undefined,
  );
}
