/** Starts, finds and stops runs of the agent service over an unreliable network. */
import type { TaskRequest } from './agent/api.ts';
import { type Access, callVoid, defaultTimeoutMs, request } from './calling.ts';
import { AtelierError, errorOf, parseObject } from './errors.ts';
import { createPauses } from './pausing.ts';

export type TaskStart = Pick<TaskRequest, 'threadId' | 'rewindTo' | 'approvals' | 'whenBusy'> & {
  readonly message?: { readonly id: string };
};

export interface StartedRun {
  readonly taskId: string;
  /** Of a run that goes on in a message: the events up to this id repeat the message. */
  readonly lastEventId?: string | undefined;
}

/**
 * Returns the run that answers the message (docs/specification/agent.md#runs). If the response to a start is lost, the
 * start is repeated with the same `Idempotency-Key`, so no message is sent twice. Rejects with `ThreadBusy` if another run is in
 * progress. `signal` ends only the waiting between attempts, because a later start of the run would go unnoticed.
 */
export async function startWithRetries(access: Access, start: TaskStart, signal?: AbortSignal): Promise<StartedRun> {
  const pauses = createPauses(access.patience, signal);
  let body = start;
  let key = crypto.randomUUID();
  for (;;) {
    try {
      return await post(access, body, key);
    } catch (error) {
      if (isUnknownRewind(error) && body.rewindTo !== undefined) {
        // The message to rewind to was never accepted. A changed request needs a key of its own.
        body = { ...body, rewindTo: undefined };
        key = crypto.randomUUID();
        continue;
      }
      await pauses.pause(error);
    }
  }
}

async function post(access: Access, body: TaskStart, key: string): Promise<StartedRun> {
  const response = await request(access, '/task', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(access.timeoutMs ?? defaultTimeoutMs),
  });
  if (response.status !== 201) {
    const refusal = await errorOf(response);
    // The message itself is in the thread, so its run has the answer.
    if (refusal.code === 'message_exists' && typeof refusal.body.taskId === 'string')
      return { taskId: refusal.body.taskId };
    throw refusal;
  }
  const { taskId, lastEventId } = parseObject(await response.text()) ?? {};
  if (typeof taskId === 'string') return { taskId, ...(typeof lastEventId === 'string' && { lastEventId }) };
  throw new AtelierError('unexpected_answer', 'The response to a start has no run id.');
}

const isUnknownRewind = (error: unknown) =>
  error instanceof AtelierError && error.status === 400 && error.fields.includes('body.rewindTo');

/** Makes a best effort: a run that does not exist need not be stopped. `keepalive`: even if the user leaves the page. */
export async function stopWithRetries(access: Access, taskId: string): Promise<void> {
  const path = `/task/${encodeURIComponent(taskId)}`;
  await callVoid(access, { method: 'DELETE', path, repeatable: true, keepalive: true }).catch(() => undefined);
}
