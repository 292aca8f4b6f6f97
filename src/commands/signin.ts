/** Signs in as a browser does: `/login`, the consent page's form, `/callback`, `/refresh`. The demo uses it. */

import { addressesOf, type Config, redirectOriginsOf } from '#app/config.ts';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { StartFault } from '#platform/lifecycle.ts';

export interface SignedIn {
  readonly accessToken: string;
  /** The final redirect target of the browser. */
  readonly target: string;
}

/** Signs in with a made-up account at the running instance's local identity provider. */
export async function signInThroughBrowser(config: Config, email: string): Promise<SignedIn> {
  const { auth } = addressesOf(config);
  const [origin = auth] = redirectOriginsOf(config);
  const jar = new Map<string, string>();
  const visit = (url: string, init: RequestInit = {}) => visitWith(jar, url, init);

  const login = await visit(`${auth}/login?next=${encodeURIComponent(`${origin}/`)}`);
  const page = await visit(login.location ?? refuse(login, 'start a sign-in'));
  const form = readForm(page.text) ?? refuse(page, 'show the consent page of the local identity provider');
  const consent = await visit(new URL(form.action, page.url).href, {
    method: 'POST',
    body: new URLSearchParams({ flow: form.flow, email }),
  });
  const callback = await visit(consent.location ?? refuse(consent, 'accept the consent'));
  const target = callback.location ?? refuse(callback, 'finish the sign-in');
  if (!jar.has('ka_session')) throw new StartFault(`The sign-in failed; the browser was sent to ${target}.`);
  const refreshed = await visit(`${auth}/refresh`, { method: 'POST', headers: { origin } });
  const { access_token: accessToken } = JSON.parse(refreshed.text) as { readonly access_token?: string };
  return { accessToken: accessToken ?? refuse(refreshed, 'return an access token'), target };
}

interface Page {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly location: string | undefined;
}

async function visitWith(jar: Map<string, string>, url: string, init: RequestInit): Promise<Page> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await outgoingFetch(url, {
    ...init,
    redirect: 'manual',
    headers: { ...init.headers, ...(cookie === '' ? {} : { cookie }) },
    signal: AbortSignal.timeout(15_000),
  }).catch((cause: Error) => {
    throw new StartFault(`${new URL(url).origin} is not responding. Is \`npm start\` running, with the same ATELIER_PORT_BASE? (${cause.message})`);
  });
  for (const line of response.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (line.includes('Max-Age=0')) jar.delete(name);
    else jar.set(name, value);
  }
  const location = response.headers.get('location');
  return {
    url,
    status: response.status,
    text: await response.text(),
    location: location === null ? undefined : new URL(location, url).href,
  };
}

function readForm(html: string): { readonly action: string; readonly flow: string } | undefined {
  const action = /<form method="post" action="([^"]+)">/.exec(html)?.[1];
  const flow = /name="flow" value="([^"]+)"/.exec(html)?.[1];
  return action === undefined || flow === undefined ? undefined : { action, flow };
}

function refuse({ url, status }: Page, what: string): never {
  throw new StartFault(`${new URL(url).origin} did not ${what} (status ${status}).`);
}
