/**
 * Erases a person from all services. Each step can be repeated. The shared records are last: as long as another service
 * has not finished, operators still find the person and can continue.
 */

import type { Erased as ErasedRecords, ErasureReport } from '#accounts/people/api.ts';
import { bodyOf } from '#platform/http/bodyof.ts';
import { Problem } from '#platform/problem.ts';
import type { AccountContext } from './context.ts';

export interface ErasedPerson {
  readonly userId: string;
  /** `null`: there is none, or a repeated erasure finds no profile. */
  readonly email: string | null;
  /** The name of the operator, for the audit logs of the services. */
  readonly headers: Headers;
}

type ErasureStep = ErasureReport['steps'][number];
type Clients = AccountContext['clients'];
type Erased = Partial<ErasedRecords>;
type Headers = Readonly<Record<string, string>>;

/** Never throws for a service that fails: the report names it. */
export async function erasePerson(
  { clients, eraseRecords }: AccountContext,
  { userId, email, headers }: ErasedPerson,
): Promise<ErasureReport> {
  // Runs end first, so that they add nothing to the other services.
  const agent = await step('agent', () => eraseConversations(clients, userId, headers));
  const others = await Promise.all([
    step('media', () => eraseAssets(clients, userId, headers)),
    step('memory', () => eraseMemories(clients, userId, headers)),
    step('notify', () => eraseMails(clients, userId, email, headers)),
  ]);
  const before = [agent, ...others];
  const isReady = before.every(({ entry }) => entry.status === 'done');
  const auth = isReady ? await step('auth', () => eraseRecords(userId)) : waiting('auth');
  const { pending = 0, provider = null } = auth.erased;
  const steps = [...before, auth].map(({ entry }) => entry);
  return { steps, isComplete: steps.every(({ status }) => status === 'done'), pendingJobs: pending, provider };
}

interface Outcome {
  readonly entry: ErasureStep;
  readonly erased: Erased;
}

async function step(service: ErasureStep['service'], erase: () => Promise<Erased | undefined>): Promise<Outcome> {
  try {
    const erased = (await erase()) ?? {};
    return { entry: { service, status: 'done', removed: erased.removed ?? {}, message: null }, erased };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { entry: { service, status: 'failed', removed: {}, message: error.message }, erased: {} };
  }
}

const waiting = (service: ErasureStep['service']): Outcome => ({
  entry: { service, status: 'waiting', removed: {}, message: null },
  erased: {},
});

async function eraseConversations({ agent }: Clients, userId: string, headers: Headers) {
  return bodyOf<Erased>(await agent.send({ method: 'DELETE', route: '/people/:userId', params: { userId }, headers }));
}

async function eraseAssets({ media }: Clients, userId: string, headers: Headers) {
  return bodyOf<Erased>(
    await media.send({ method: 'DELETE', route: '/v1/people/:userId', params: { userId }, headers }),
  );
}

async function eraseMemories({ memory }: Clients, userId: string, headers: Headers) {
  return bodyOf<undefined>(
    await memory.send({
      method: 'DELETE',
      route: '/entities/:entity_type/:entity_id',
      params: { entity_type: 'user', entity_id: userId },
      headers,
    }),
  );
}

async function eraseMails({ notify }: Clients, userId: string, address: string | null, headers: Headers) {
  return bodyOf<Erased>(
    await notify.send({
      method: 'POST',
      route: '/people/erasure',
      json: { userId, address },
      headers,
      idempotent: true,
    }),
  );
}
