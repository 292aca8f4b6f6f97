/** Requests of operators and users to a started suite, for the tests of the operator's endpoints. */
import { randomUUID } from 'node:crypto';
import type { ConsoleRig } from './rig.fixture.ts';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

export interface Desk {
  /** As the holder of CONSOLE_TOKEN, or with another cookie. */
  send<T = Record<string, unknown>>(method: string, path: string, json?: object, cookie?: string): Promise<Answer<T>>;
  /** Signs in with an account of the identity provider. */
  enterAs(email: string): Promise<Answer<unknown> & { readonly cookie: string }>;
  person(email?: string): Promise<Person>;
  /** To a service, with the internal key. */
  internal<T = Record<string, unknown>>(
    service: Service,
    method: string,
    path: string,
    json?: object,
  ): Promise<Answer<T>>;
}

type Service = 'auth' | 'agent' | 'media' | 'memory' | 'notify';

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  call<T = Record<string, unknown>>(service: Service, method: string, path: string, json?: object): Promise<Answer<T>>;
}

export async function openDesk(rig: Pick<ConsoleRig, 'url' | 'addresses' | 'secret'>): Promise<Desk> {
  const [localSecret, key] = [await rig.secret('LOCAL_IDP_SECRET'), await rig.secret('INTERNAL_KEY')];
  const begun = await request(
    `${rig.url}/api/session`,
    'POST',
    { token: await rig.secret('CONSOLE_TOKEN') },
    { origin: rig.url },
  );
  const own = cookieOf(begun.headers);
  const at = (service: Service, path: string) => `${rig.addresses[service] ?? ''}${path}`;
  const tokenOf = async (email: string) => {
    const url = `${rig.addresses.idp}/local/token`;
    const { body } = await request<{ access_token: string }>(url, 'POST', { email }, { 'x-local-secret': localSecret });
    return body.access_token;
  };
  return {
    send: (method, path, json, cookie = own) => request(rig.url + path, method, json, { origin: rig.url, cookie }),
    enterAs: async (email) => {
      const answer = await request(
        `${rig.url}/api/session/identity`,
        'POST',
        { accessToken: await tokenOf(email) },
        { origin: rig.url },
      );
      return { ...answer, cookie: cookieOf(answer.headers) };
    },
    person: async (email = `p-${randomUUID()}@example.com`) => {
      const token = await tokenOf(email);
      const id = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sub as string;
      return {
        id,
        email,
        token,
        call: (service, method, path, json) =>
          request(at(service, path), method, json, { authorization: `Bearer ${token}` }),
      };
    },
    internal: (service, method, path, json) => request(at(service, path), method, json, { 'x-internal-key': key }),
  };
}

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? '';

async function request<T>(
  url: string,
  method: string,
  json: object | undefined,
  headers: Record<string, string>,
): Promise<Answer<T>> {
  const type = json === undefined ? {} : { 'content-type': 'application/json' };
  const body = json === undefined ? null : JSON.stringify(json);
  const response = await fetch(url, { method, body, headers: { ...type, ...headers } });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, body: (isJson ? JSON.parse(text) : text) as T, headers: response.headers };
}
