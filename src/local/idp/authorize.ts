/** The sign-in in the browser: authorize, the consent page, and the return with a code. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { offeredAddresses } from '#accounts/sampleaccounts.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import type { IdpContext } from './context.ts';
import { idpProblems } from './problems.ts';
import { beginFlow, consent, findFlow } from './store.ts';

const consentPath = '/local/consent';

/** The query of GoTrue's `/authorize` (https://supabase.com/docs/guides/auth). */
export const authorizeQuery = z.object({
  provider: z.string().min(1).max(64),
  redirect_to: z.string().max(2048).optional(),
  code_challenge: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{43,128}$/)
    .optional(),
  code_challenge_method: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['s256', 'plain']))
    .optional(),
  skip_http_redirect: z.string().optional(),
});

export async function authorize(deps: IdpContext, query: z.infer<typeof authorizeQuery>, reply: FastifyReply) {
  const { code_challenge: challenge, code_challenge_method: challengeMethod } = query;
  if (challenge === undefined || challengeMethod === undefined)
    throw idpProblems.validation_failed({ message: 'PKCE flow requires code_challenge and code_challenge_method' });
  const [siteUrl = deps.publicUrl] = deps.redirectUrls;
  const { redirect_to: wanted = siteUrl } = query;
  const redirectTo = deps.redirectUrls.some((url) => covers(url, wanted)) ? wanted : siteUrl;
  const flowId = await beginFlow(deps.db, { provider: query.provider, redirectTo, challenge, challengeMethod });
  const url = `${deps.publicUrl}${consentPath}?flow=${flowId}`;
  reply.header('cache-control', 'no-store');
  if (query.skip_http_redirect === 'true') return { url };
  return reply.redirect(url, 302);
}

const covers = (allowed: string, url: string) =>
  allowed.endsWith('*') ? url.startsWith(allowed.slice(0, -1)) : url === allowed;

const email = z.email().max(254);
const consentForm = z.object({
  flow: z.uuid(),
  email: email.default(offeredAddresses[0]),
  deny: z.string().optional(),
});

/** The page and its form. They belong to the social provider behind GoTrue. */
export async function addConsent(app: HttpServer, deps: IdpContext): Promise<void> {
  app.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: 4096 },
    async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );

  app.get(
    consentPath,
    { schema: { summary: 'Show the consent page', querystring: z.object({ flow: z.uuid() }) } },
    async (request, reply) => {
      const { flow } = request.query;
      if ((await findFlow(deps.db, flow)) === undefined) throw problems.not_found({ message: flowIsOver });
      return reply.headers(consentPageHeaders).send(renderConsentPage(flow, consentPath));
    },
  );

  app.post(
    consentPath,
    { schema: { summary: 'Redirect to the application, with a code', body: consentForm } },
    async (request, reply) => {
      const { flow, email, deny } = request.body;
      reply.header('cache-control', 'no-store');
      if (deny !== undefined) return reply.redirect(await refuse(deps, flow), 303);
      const granted = await consent(deps.db, flow, email.toLowerCase());
      if (granted?.code === undefined || granted.code === null) throw problems.not_found({ message: flowIsOver });
      return reply.redirect(withQuery(granted.redirectTo, { code: granted.code }), 303);
    },
  );
}

const flowIsOver = 'This sign-in has expired. Start again in the application.';

async function refuse(deps: IdpContext, flowId: string): Promise<string> {
  const flow = await findFlow(deps.db, flowId);
  if (flow === undefined) throw problems.not_found({ message: flowIsOver });
  return withQuery(flow.redirectTo, {
    error: 'access_denied',
    error_code: 'access_denied',
    error_description: 'The user denied the request',
  });
}

function withQuery(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  // GoTrue writes them in this order.
  url.searchParams.sort();
  return url.href;
}

// The page on which a user chooses an account: plain HTML forms that work without scripts.

const style = readFileSync(new URL('./authorize.css', import.meta.url), 'utf8');

const consentPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
};

/** The icon of the console. */
const logo =
  '<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#3d4fb8"/><path d="M16 7 24.5 25h-4l-1.7-3.9h-5.6L11.5 25h-4zm-1.4 10.9h2.8L16 14.5z" fill="#fff"/></svg>';

/** `flowId` and `action` come from the server: a UUID and a path. */
function renderConsentPage(flowId: string, action: string): string {
  const rows = offeredAddresses.map((address) => {
    const name = `${address[0]?.toUpperCase()}${address.slice(1, address.indexOf('@'))}`;
    return `<button type="submit" name="email" value="${address}" class="account"><span class="initial" aria-hidden="true">${name[0]}</span><span><strong>Continue as ${name}</strong><small>${address}</small></span></button>`;
  });
  const form = (content: string) =>
    `<form method="post" action="${action}">\n<input type="hidden" name="flow" value="${flowId}">\n${content}\n</form>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to Atelier</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="brand">${logo} Atelier</p>
<h1>Sign in as a demo user</h1>
<p>Choose who you are on this machine. There is no password.</p>
${form(rows.join('\n'))}
${form('<label for="email">Use another account</label>\n<div class="other"><input id="email" type="email" name="email" required maxlength="254" placeholder="you@example.com">\n<button type="submit">Continue</button></div>')}
${form('<button type="submit" name="deny" value="1" class="quiet">Cancel</button>')}
</main>
</body>
</html>
`;
}
