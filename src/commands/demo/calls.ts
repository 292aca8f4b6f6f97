/** How the demo calls a service and tells of it. */
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { StartFault } from '#platform/lifecycle.ts';

export type Answer = Readonly<Record<string, unknown>>;
export type Credential = { readonly token: string } | { readonly internalKey: string };

export function tell(step: string, what: string, address?: string): void {
  console.log(`${step.padEnd(10)} ${what}${address === undefined ? '' : `\n           ${address}`}`);
}

/** Throws StartFault with one readable line, whatever is wrong. */
export async function post(url: string, credential: Credential, body: unknown): Promise<Answer> {
  return call('POST', url, credential, body);
}

export async function call(method: string, url: string, credential: Credential, body?: unknown): Promise<Answer> {
  const authorization: Record<string, string> =
    'token' in credential
      ? { authorization: `Bearer ${credential.token}` }
      : { 'x-internal-key': credential.internalKey };
  const answer = await outgoingFetch(url, {
    method,
    headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((cause: Error) => {
    throw new StartFault(`${url} does not answer; is \`npm start\` running? (${cause.message})`);
  });
  const text = await answer.text();
  if (!answer.ok) throw new StartFault(`${url} was answered with ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** Opens an address that was handed out, as a browser would, and tells what is there. */
export async function open(step: string, url: unknown): Promise<void> {
  const answer = await outgoingFetch(String(url));
  const bytes = await answer.arrayBuffer();
  if (!answer.ok) throw new StartFault(`${step} was answered with ${answer.status}.`);
  tell(step, `${answer.headers.get('content-type')}, ${bytes.byteLength} bytes`, String(url));
}
