/** HTTP calls of the demo, with their output. */

import { StartFault } from '#platform/lifecycle.ts';
import { outgoingFetch } from '#platform/version.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
export type Credential = { readonly token: string } | { readonly internalKey: string };

export function printStep(step: string, what: string, address?: string): void {
  console.log(`${step.padEnd(10)} ${what}${address === undefined ? '' : `\n           ${address}`}`);
}

/** On any failure, throws StartFault with one readable line. */
export async function post(url: string, credential: Credential, body: unknown): Promise<JsonObject> {
  return call('POST', url, credential, body);
}

export async function call(method: string, url: string, credential: Credential, body?: unknown): Promise<JsonObject> {
  const authorization: Record<string, string> =
    'token' in credential
      ? { authorization: `Bearer ${credential.token}` }
      : { 'x-internal-key': credential.internalKey };
  const response = await outgoingFetch(url, {
    method,
    headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause: Error) => {
    throw new StartFault(
      `${url} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`,
    );
  });
  const text = await response.text();
  if (!response.ok) throw new StartFault(`${url} returned ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Opens a URL that a service returned, as a browser would, and prints the result. */
export async function open(step: string, url: unknown): Promise<void> {
  const response = await outgoingFetch(String(url));
  const bytes = await response.arrayBuffer();
  if (!response.ok) throw new StartFault(`${step} returned ${response.status}.`);
  printStep(step, `${response.headers.get('content-type')}, ${bytes.byteLength} bytes`, String(url));
}
