/**
 * Erases a person from all services in one action. Each step can be repeated. The shared records are last: as long as
 * another service has not finished, operators still find the person and can continue.
 */
import { Problem } from '#platform/problem.ts';
import { bodyOf, type CalledService, type ServiceClients } from '../services.ts';
import { readRecord } from './reading.ts';

export interface ErasureStep {
  readonly service: CalledService;
  /** `waiting`: another service has to finish first. */
  readonly status: 'done' | 'failed' | 'waiting';
  readonly removed: Readonly<Record<string, number>>;
  /** The reason of the failure. */
  readonly message: string | null;
}

export interface ErasureReport {
  readonly steps: readonly ErasureStep[];
  readonly isComplete: boolean;
  /** Jobs that still name the person. They end within minutes. */
  readonly pendingJobs: number;
  /** `not_configured`: delete the account at the identity provider yourself. */
  readonly provider: 'removed' | 'not_configured' | null;
}

interface Erased {
  readonly removed?: Readonly<Record<string, number>>;
  readonly pending?: number;
  readonly provider?: 'removed' | 'not_configured';
}

type Headers = Readonly<Record<string, string>>;

/** Never throws for a service that fails: the report names it. */
export async function erasePerson(clients: ServiceClients, userId: string, headers: Headers): Promise<ErasureReport> {
  const email = await emailOf(clients, userId);
  if (email instanceof Problem) return stopped(email);
  // Runs end first, so that they add nothing to the other services.
  const agent = await step('agent', () => eraseConversations(clients, userId, headers));
  const others = await Promise.all([
    step('media', () => eraseAssets(clients, userId, headers)),
    step('memory', () => eraseMemories(clients, userId, headers)),
    step('notify', () => eraseMails(clients, userId, email, headers)),
  ]);
  const before = [agent, ...others];
  const isReady = before.every(({ entry }) => entry.status === 'done');
  const auth = isReady ? await step('auth', () => eraseRecords(clients, userId, headers)) : waiting('auth');
  const { pending = 0, provider = null } = auth.erased;
  const steps = [...before, auth].map(({ entry }) => entry);
  return { steps, isComplete: steps.every(({ status }) => status === 'done'), pendingJobs: pending, provider };
}

interface Outcome {
  readonly entry: ErasureStep;
  readonly erased: Erased;
}

async function step(service: CalledService, erase: () => Promise<Erased | undefined>): Promise<Outcome> {
  try {
    const erased = (await erase()) ?? {};
    return { entry: { service, status: 'done', removed: erased.removed ?? {}, message: null }, erased };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { entry: { service, status: 'failed', removed: {}, message: error.message }, erased: {} };
  }
}

const waiting = (service: CalledService): Outcome => ({
  entry: { service, status: 'waiting', removed: {}, message: null },
  erased: {},
});

function stopped({ message }: Problem): ErasureReport {
  const steps = (['agent', 'media', 'memory', 'notify'] as const).map((service) => waiting(service).entry);
  const auth: ErasureStep = { service: 'auth', status: 'failed', removed: {}, message };
  return { steps: [...steps, auth], isComplete: false, pendingJobs: 0, provider: null };
}

/** `null`: there is no profile, so a repeated erasure, or an id that signed in nowhere. */
async function emailOf(clients: ServiceClients, userId: string): Promise<string | null | Problem> {
  try {
    return (await readRecord(clients, userId)).person.email;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.status === 404 ? null : error;
  }
}

async function eraseConversations({ agent }: ServiceClients, userId: string, headers: Headers) {
  return bodyOf<Erased>(await agent.send({ method: 'DELETE', route: '/people/:userId', params: { userId }, headers }));
}

async function eraseAssets({ media }: ServiceClients, userId: string, headers: Headers) {
  return bodyOf<Erased>(
    await media.send({ method: 'DELETE', route: '/v1/people/:userId', params: { userId }, headers }),
  );
}

async function eraseMemories({ memory }: ServiceClients, userId: string, headers: Headers) {
  return bodyOf<undefined>(
    await memory.send({
      method: 'DELETE',
      route: '/entities/:entity_type/:entity_id',
      params: { entity_type: 'user', entity_id: userId },
      headers,
    }),
  );
}

async function eraseMails({ notify }: ServiceClients, userId: string, address: string | null, headers: Headers) {
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

async function eraseRecords({ auth }: ServiceClients, userId: string, headers: Headers) {
  return bodyOf<Erased>(
    await auth.send({ method: 'DELETE', route: '/v1/people/:userId', params: { userId }, headers }),
  );
}
