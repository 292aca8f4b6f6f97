/** The memory service's admin API, through the console's server, which has its token. */
import { callJson } from '../calls.ts';

export const memoryTypes = ['preference', 'workflow', 'instruction', 'episodic'] as const;

export interface Memory {
  readonly id: string;
  readonly entity_id: string;
  readonly entity_type: string;
  readonly type: string;
  readonly content: string;
  readonly links: readonly { readonly id: string; readonly kind: string }[];
  readonly updated_at: string;
  readonly invalid_at: string | null;
  readonly replaced_by: string | null;
}

export interface Revision {
  readonly number: number;
  readonly action: string;
  readonly actor: string;
  readonly before: { readonly content: string };
  readonly after: { readonly content: string };
  readonly reason: string | null;
  readonly undone: boolean;
  readonly created_at: string;
}

export interface Profile {
  readonly entity_id: string;
  readonly entity_type: string;
  readonly summary: string | null;
  readonly facts: Readonly<Record<string, string>>;
  readonly locked: readonly string[];
  readonly language: string | null;
  readonly updated_at: string;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export const backOffice = <T>(path: string, method: Method = 'GET', json?: unknown) =>
  callJson<T>(`/api/memory${path}`, { method, ...(json === undefined ? {} : { json }) });

export const entityPath = (type: string, id: string) => `${encodeURIComponent(type)}/${encodeURIComponent(id)}`;
