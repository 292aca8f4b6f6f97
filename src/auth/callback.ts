/** `GET /callback`: the browser returns with a code. Failures are redirects too (docs/specification/auth.md#callback). */
import { onboard } from '#accounts/onboarding.ts';
import type { AccountTables, OnCreated } from '#accounts/store.ts';
import type { Db } from '#platform/db/db.ts';
import { negotiateLanguage } from '#platform/language.ts';
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { CookieRules } from './cookies.ts';
import type { SessionEnds } from './ending.ts';
import type { Redirect } from './login.ts';
import { type Provider, type ProviderSession, providerTimeoutMs } from './provider.ts';
import type { RefreshResults } from './refreshresults.ts';
import { hashToken } from './rotation.ts';
import type { SessionSealer } from './sessions.ts';
import { readSignIns, type SignIn, type SignInDeps, sealSignIns } from './signins.ts';
import { type Targets, withReferral } from './targets.ts';

export interface CallbackDeps extends SignInDeps {
  readonly targets: Targets;
  readonly cookies: CookieRules;
  readonly provider: Pick<Provider, 'exchange'>;
  readonly sessionSealer: SessionSealer;
  readonly refreshResults: RefreshResults;
  readonly sessionEnds: SessionEnds;
  readonly accounts: Db<AccountTables>;
  readonly onAccountCreated?: OnCreated | undefined;
  readonly log: Log;
  readonly timeoutMs?: number;
}

interface Returned {
  /** The raw value, which may be of any type. */
  readonly code?: unknown;
  readonly cookieHeader: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly clientAddress: string | undefined;
}

/** Maximum time that a sign-in waits for the onboarding of a user. */
const onboardingTimeoutMs = 2000;
const maxCodeLength = 1024;

export async function finishSignIn(deps: CallbackDeps, returned: Returned): Promise<Redirect> {
  const { targets, cookies } = deps;
  const { code } = returned;
  if (code === undefined || code === '') return { location: targets.fallback, setCookies: [] };
  const failed = { location: `${targets.fallback}/?auth_error=1`, setCookies: [] };
  if (typeof code !== 'string' || code.length > maxCodeLength) return failed;
  const signIns = readSignIns(deps, returned.cookieHeader);
  const opened = await openSession(deps, code, signIns, returned.clientAddress);
  if (opened === undefined) return failed;
  const { session, signIn } = opened;
  const isReferred = await runOnboarding(deps, session, signIn, returned.acceptLanguage);
  const target = deps.targets.validate(signIn.next) ?? targets.fallback;
  const others = signIns.filter((other) => other !== signIn);
  return {
    location: isReferred && signIn.invite !== undefined ? withReferral(target, signIn.invite) : target,
    setCookies: [
      cookies.clear('ka_next'),
      cookies.clear('ka_invite'),
      others.length === 0 ? cookies.clear('ka_pkce') : cookies.keep('ka_pkce', sealSignIns(deps, others)),
      cookies.keepSession(
        deps.sessionSealer.seal({
          token: session.refreshToken,
          subject: session.user?.id,
          sealedAtMs: (await deps.sessionEnds.now()) ?? deps.clock.now(),
        }),
      ),
    ],
  };
}

interface Opened {
  readonly session: ProviderSession;
  readonly signIn: SignIn;
}

/**
 * The code does not identify its sign-in, so the newest is tried first. A wrong verifier does not consume the code. An unknown or
 * expired code fails for all sign-ins.
 */
async function openSession(
  { provider, log, timeoutMs = providerTimeoutMs }: CallbackDeps,
  code: string,
  signIns: readonly SignIn[],
  clientAddress: string | undefined,
): Promise<Opened | undefined> {
  return withDeadline(timeoutMs, async (signal) => {
    for (const signIn of signIns) {
      const result = await provider.exchange(code, signIn.verifier, { signal, clientAddress });
      if (result.kind === 'ok') return { session: result.value, signIn };
      log.info({ outcome: result.kind }, 'the code exchange failed');
      if (result.kind === 'unavailable' || codeIsLost.has(result.code)) return undefined;
    }
    return undefined;
  }).catch((error: unknown) => {
    log.warn({ err: error }, 'a code exchange did not finish');
    return undefined;
  });
}

const codeIsLost: ReadonlySet<string | undefined> = new Set(['flow_state_not_found', 'flow_state_expired']);

/** Runs onboarding and reports whether an invitation was accepted. A failure never prevents the sign-in. */
async function runOnboarding(
  deps: CallbackDeps,
  session: ProviderSession,
  signIn: SignIn,
  acceptLanguage: string | undefined,
): Promise<boolean> {
  const { user } = session;
  try {
    return await withDeadline(onboardingTimeoutMs, async () => {
      await deps.refreshResults.forget(hashToken(session.refreshToken));
      if (user === undefined) return false;
      const language = negotiateLanguage(acceptLanguage);
      const { isReferred } = await onboard(
        deps.accounts,
        { ...user, language, invite: signIn.invite },
        deps.onAccountCreated,
      );
      return isReferred;
    });
  } catch (error) {
    deps.log.warn({ err: error }, 'onboarding failed; the next sign-in repeats it');
    return false;
  }
}
