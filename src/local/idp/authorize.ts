/** The sign-in in the browser: authorize, the consent page, and the return with a code. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { offeredAddresses } from '#accounts/sampleaccounts.ts';
import type { Db } from '#platform/db/db.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { consentPageHeaders, renderConsentPage } from './consentpage.ts';
import { idpProblems } from './problems.ts';
import { beginFlow, consent, findFlow, type IdpTables } from './store.ts';

export interface AuthorizeDeps {
  readonly db: Db<IdpTables>;
  readonly publicUrl: string;
  /** Only these are accepted, with any text in place of a `*` at the end. Any other value silently becomes the first, as in GoTrue. */
  readonly redirectUrls: readonly string[];
}

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

export async function authorize(deps: AuthorizeDeps, query: z.infer<typeof authorizeQuery>, reply: FastifyReply) {
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
export async function addConsent(app: HttpServer, deps: AuthorizeDeps): Promise<void> {
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

async function refuse(deps: AuthorizeDeps, flowId: string): Promise<string> {
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
