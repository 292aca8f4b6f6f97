/** One person, as the services know them. A service that does not respond leaves the other parts. */
import { bodyOf } from '#platform/http/bodyof.ts';
import { type Part, partOf, type ServiceClients } from '../services.ts';

/** The answer of the authentication service about a person. */
export interface PersonRecord {
  readonly person: { readonly id: string; readonly email: string | null; readonly createdAt: string };
}

export interface PersonView {
  readonly record: PersonRecord;
  readonly conversations: Part<unknown>;
  readonly threads: Part<unknown>;
  readonly usage: Part<unknown>;
  readonly storage: Part<unknown>;
  readonly assets: Part<unknown>;
  readonly incidents: Part<unknown>;
  readonly memories: Part<unknown>;
  /** `null`: the person has no address. */
  readonly mails: Part<unknown> | null;
}

const shown = { threads: 20, assets: 12, incidents: 20, mails: 20, memories: 5 };

/** Throws 404 for an id without a profile. */
export async function readRecord({ auth }: Pick<ServiceClients, 'auth'>, userId: string): Promise<PersonRecord> {
  return bodyOf<PersonRecord>(await auth.send({ method: 'GET', route: '/v1/people/:userId', params: { userId } }));
}

export async function readPerson(clients: ServiceClients, userId: string): Promise<PersonView> {
  const record = await readRecord(clients, userId);
  const { agent, media, memory, notify } = clients;
  const { email } = record.person;
  const get = (response: Promise<Parameters<typeof bodyOf>[0]>) => partOf(response.then((got) => bodyOf<unknown>(got)));
  const [conversations, threads, usage, storage, assets, incidents, memories, mails] = await Promise.all([
    get(agent.send({ method: 'GET', route: '/people/:userId', params: { userId } })),
    get(agent.send({ method: 'GET', route: '/threads', query: { userId, limit: shown.threads } })),
    get(agent.send({ method: 'GET', route: '/usage', query: { userId } })),
    get(media.send({ method: 'GET', route: '/v1/usage', query: { ownerId: userId } })),
    get(media.send({ method: 'GET', route: '/v1/assets', query: { ownerId: userId, limit: shown.assets } })),
    get(media.send({ method: 'GET', route: '/v1/incidents', query: { ownerId: userId, limit: shown.incidents } })),
    get(
      memory.send({
        method: 'GET',
        route: '/memories',
        query: { entity_type: 'user', entity_id: userId, limit: shown.memories },
      }),
    ),
    email === null
      ? null
      : get(notify.send({ method: 'GET', route: '/people/mails', query: { address: email, limit: shown.mails } })),
  ]);
  return { record, conversations, threads, usage, storage, assets, incidents, memories, mails };
}
