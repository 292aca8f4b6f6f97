/** As much of a browser as signing in needs: a cookie jar, redirects followed by hand, forms without scripts. */

interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly location: string | undefined;
  readonly setCookies: readonly string[];
}

export interface Browser {
  readonly cookies: Map<string, string>;
  get(url: string, headers?: Record<string, string>): Promise<Visit>;
  post(url: string, headers?: Record<string, string>, body?: string): Promise<Visit>;
  /** Another tab shares the jar; another browser does not. */
  readonly cookieHeader: string;
}

/** `fetchWith`: for a browser that knows names and certificates of its own. */
export function openBrowser(jar: Iterable<readonly [string, string]> = [], fetchWith: typeof fetch = fetch): Browser {
  const cookies = new Map(jar);
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  async function visit(method: string, url: string, headers: Record<string, string>, body?: string): Promise<Visit> {
    const cookie = header();
    const response = await fetchWith(url, {
      method,
      redirect: 'manual',
      headers: { ...(cookie === '' ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const setCookies = response.headers.getSetCookie();
    for (const line of setCookies) keep(cookies, line);
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, headers: response.headers, text: await response.text(), location, setCookies };
  }
  return {
    cookies,
    get: (url, headers = {}) => visit('GET', url, headers),
    post: (url, headers = {}, body = undefined) => visit('POST', url, headers, body),
    get cookieHeader() {
      return header();
    },
  };
}

function keep(cookies: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ');
  const at = pair.indexOf('=');
  if (attributes.some((attribute) => attribute === 'Max-Age=0')) cookies.delete(pair.slice(0, at));
  else cookies.set(pair.slice(0, at), pair.slice(at + 1));
}

/** From `/login` over the consent page to the answer of `/callback`. */
export async function signIn(
  browser: Browser,
  authUrl: string,
  wish: { readonly query?: Record<string, string>; readonly email?: string; readonly language?: string } = {},
): Promise<Visit> {
  const login = await browser.get(`${authUrl}/login?${new URLSearchParams(wish.query)}`);
  if (login.status !== 302) throw new Error(`/login answered ${login.status}: ${login.text}`);
  const back = await consent(login.location ?? '', wish.email);
  return browser.get(back, wish.language === undefined ? {} : { 'accept-language': wish.language });
}

/** What a person does on the consent page; the address to go back to. */
export async function consent(address: string, email = 'ada@example.com'): Promise<string> {
  const page = await fetch(address);
  const html = await page.text();
  const form = /<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/.exec(html);
  const flow = /name="flow" value="([^"]+)"/.exec(form?.[2] ?? '')?.[1];
  if (form === null || flow === undefined) throw new Error(`no form on the consent page: ${html}`);
  const answer = await fetch(new URL(form[1] ?? '', address), {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ flow, email }).toString(),
  });
  return answer.headers.get('location') ?? '';
}
