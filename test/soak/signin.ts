/** Signs in as a browser does, using only URLs. */

export interface SignedIn {
  readonly userId: string;
  readonly accessToken: string;
  /** The value of `ka_session`. */
  readonly session: string;
}

export async function signIn(auth: string, origin: string, email: string): Promise<SignedIn> {
  const jar = new Map<string, string>();
  const visit = async (url: string, init: RequestInit = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    return { text: await response.text(), location: response.headers.get('location') ?? '' };
  };
  const login = await visit(`${auth}/login?next=${encodeURIComponent(`${origin}/`)}`);
  const page = await visit(login.location);
  const flow = /name="flow" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const action = /<form method="post" action="([^"]+)">/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ flow, email });
  const consent = await visit(new URL(action, login.location).href, { method: 'POST', body });
  await visit(consent.location);
  const { text } = await visit(`${auth}/refresh`, { method: 'POST', headers: { origin } });
  const { access_token: accessToken } = JSON.parse(text) as { access_token: string };
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()) as { sub: string };
  return { userId: claims.sub, accessToken, session: jar.get('ka_session') ?? '' };
}
