/**
 * Everything that the services store about a person, as one JSON document. It is written while it is read. A service that
 * fails in between ends the response early: the JSON is then incomplete, and no browser saves it as a whole file.
 */
import {
  assetsOf,
  generationsOf,
  incidentsOf,
  listed,
  mailsOf,
  memoriesOf,
  reportsOf,
  sharesOf,
  threadsOf,
  usageOf,
} from '#accounts/people/exporting.ts';
import type { ServiceClients } from '../services.ts';
import { type PersonRecord, readRecord } from './reading.ts';

/** Throws 404 before the first byte for an id without a profile. */
export async function exportPerson(clients: ServiceClients, userId: string): Promise<AsyncGenerator<string>> {
  return write(clients, userId, await readRecord(clients, userId));
}

async function* write(clients: ServiceClients, userId: string, record: PersonRecord): AsyncGenerator<string> {
  const { email, createdAt } = record.person;
  yield `{"exportedAt":${JSON.stringify(new Date().toISOString())},"record":${JSON.stringify(record)}`;
  const lists = {
    threads: threadsOf(clients, userId),
    generations: generationsOf(clients, userId),
    assets: assetsOf(clients, userId),
    shares: sharesOf(clients, userId),
    incidents: incidentsOf(clients, userId),
    reports: reportsOf(clients, userId),
    usage: usageOf(clients, userId, Date.parse(createdAt)),
  };
  for (const [name, items] of Object.entries(lists)) {
    yield `,"${name}":`;
    yield* listed(items);
  }
  yield `,"memory":${JSON.stringify(await memoriesOf(clients, userId))}`;
  yield `,"mails":${JSON.stringify(await mailsOf(clients, email))}}\n`;
}
