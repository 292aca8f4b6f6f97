/** The memory service's admin API, through the console's server, which has its token. */
import { callJson } from '../calls.ts';

export const kinds = [
  ['preference', 'Preference'],
  ['instruction', 'Instruction'],
  ['workflow', 'Way of working'],
  ['episodic', 'Event'],
] as const;

/** Of all lists of memories, and of each memory. */
export const memoriesKey = ['memory', 'memories'];

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export const backOffice = <T>(path: string, method: Method = 'GET', json?: unknown) =>
  callJson<T>(`/api/memory${path}`, { method, ...(json === undefined ? {} : { json }) });

export const profileHref = (type: string, id: string) =>
  `/operator/memory?${new URLSearchParams({ tab: 'profiles', profile: `${type} ${id}` })}`;

export const entityPath = (type: string, id: string) => `${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
