/** `GET /callback`: the browser returns with a code. Failures are redirects too (docs/specification/auth.md#callback). */

import { onboard } from '#accounts/onboarding.ts';
import { negotiateLanguage } from '#platform/language.ts';
import { withDeadline } from '#platform/resilience.ts';
import { recordUse } from './browsersessions.ts';
import type { AuthContext } from './context.ts';
import type { ProviderSession } from './provider.ts';
import { revokeLater } from './revocations.ts';
import { hashToken } from './rotation.ts';
import { areOfOneSubject, readSessions } from './sessions.ts';
import { findSignIns, type Redirect, type SignIn, type State, unknownVerifier } from './signins.ts';
import { withReferral } from './targets.ts';

interface Returned {
  /** The raw value, which may be of any type. */
  readonly code?: unknown;
  /** The raw value, which may be of any type. */
  readonly state?: unknown;
  /** Set if the provider reports a failure, such as a user who declined. */
  readonly error?: unknown;
  readonly cookieHeader: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly userAgent: string | undefined;
  readonly clientAddress: string | undefined;
}

/** Maximum time that a sign-in waits for the onboarding of a user. */
const onboardingTimeoutMs = 2000;
const maxCodeLength = 1024;

export async function finishSignIn(deps: AuthContext, returned: Returned): Promise<Redirect> {
  const { targets, cookies } = deps;
  const { code, error, cookieHeader } = returned;
  const failed = { location: `${targets.fallback}/?auth_error=1`, setCookies: [] };
  if (error !== undefined && error !== '') return failed;
  if (code === undefined || code === '') return { location: targets.fallback, setCookies: [] };
  if (typeof code !== 'string' || code.length > maxCodeLength) return failed;
  const { signIns, state } = findSignIns(deps, cookieHeader, returned.state);
  const opened = await openSession(deps, code, signIns, returned.clientAddress);
  if (opened === 'failed') return failed;
  if (opened === 'unknown') {
    if (!(await hasSession(deps, cookieHeader))) return failed;
    return { location: await findTarget(deps, code, state, returned.clientAddress), setCookies: [] };
  }
  const { session, signIn } = opened;
  const clearedSignIn = [
    cookies.clear('ka_next'),
    cookies.clear('ka_invite'),
    ...[...new Set(['ka_pkce' as const, ...signIn.cookies])].map((name) => cookies.clear(name)),
  ];
  const isReferred = await runOnboarding(deps, session, signIn, returned.acceptLanguage);
  // After the onboarding, which blocks a new account of a blocked address.
  const { isBlocked, checkedAtMs } = await deps.sessionEnds.check({ subject: session.user?.id, sealedAtMs: 0 });
  if (isBlocked) {
    const { refreshToken } = session;
    await revokeLater(deps, { refreshToken, scope: 'local' }, [refreshToken]);
    return { location: `${failed.location}&auth_reason=account_blocked`, setCookies: clearedSignIn };
  }
  const target = targets.validate(signIn.next) ?? targets.fallback;
  if (checkedAtMs !== undefined) await recordUse(deps, session, returned.userAgent, checkedAtMs);
  return {
    location: isReferred && signIn.invite !== undefined ? withReferral(target, signIn.invite) : target,
    setCookies: [
      ...clearedSignIn,
      cookies.keepSession(
        deps.sessionSealer.seal({
          token: session.refreshToken,
          subject: session.user?.id,
          sealedAtMs: checkedAtMs ?? deps.clock.now(),
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
 * Without a state, the code does not identify its sign-in, so the newest is tried first. A wrong verifier does not consume the code.
 * Returns `unknown` if the code belongs to none of the sign-ins.
 */
async function openSession(
  { provider, log, timeoutMs }: AuthContext,
  code: string,
  signIns: readonly SignIn[],
  clientAddress: string | undefined,
): Promise<Opened | 'unknown' | 'failed'> {
  return withDeadline(timeoutMs, async (signal): Promise<Opened | 'unknown' | 'failed'> => {
    let isForeign = true;
    for (const signIn of signIns) {
      const result = await provider.exchange(code, signIn.verifier, { signal, clientAddress });
      if (result.kind === 'ok') return { session: result.value, signIn };
      log.info({ outcome: result.kind }, 'the code exchange failed');
      if (result.kind === 'unavailable' || codeIsLost.has(result.code)) return 'failed';
      isForeign &&= result.code === wrongVerifier;
    }
    return isForeign ? 'unknown' : 'failed';
  }).catch((error: unknown) => {
    log.warn({ err: error }, 'a code exchange did not finish');
    return 'failed' as const;
  });
}

/** GoTrue's code for an unused code of another sign-in. */
const wrongVerifier = 'bad_code_verifier';
const codeIsLost: ReadonlySet<string | undefined> = new Set(['flow_state_not_found', 'flow_state_expired']);

/** Reports whether this browser is signed in, as far as that is known without the provider. */
async function hasSession(deps: AuthContext, cookieHeader: string | undefined): Promise<boolean> {
  const sessions = readSessions(deps.sessionSealer, cookieHeader);
  if (!areOfOneSubject(sessions)) return false;
  const areGood = sessions.map(async (session) => {
    const result = await deps.refreshResults.find(hashToken(session.token)).catch(() => undefined);
    return result?.outcome !== 'signed_out' && !(await deps.sessionEnds.check(session)).isEnded;
  });
  return (await Promise.all(areGood)).includes(true);
}

/**
 * Returns where a browser that is signed in continues if its sign-in is gone. More tabs may have signed in than there are cookies, and
 * another one finished first. A used code comes from an old URL, so its target is no longer of interest.
 */
async function findTarget(
  { targets, provider, timeoutMs }: AuthContext,
  code: string,
  state: State | undefined,
  clientAddress: string | undefined,
): Promise<string> {
  const target = targets.validate(state?.next);
  if (target === undefined) return targets.fallback;
  const result = await withDeadline(timeoutMs, (signal) =>
    provider.exchange(code, unknownVerifier(), { signal, clientAddress }),
  ).catch(() => undefined);
  return result?.kind === 'refused' && result.code === wrongVerifier ? target : targets.fallback;
}

/** Runs onboarding and reports whether an invitation was accepted. A failure never prevents the sign-in. */
async function runOnboarding(
  deps: AuthContext,
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
      const { isReferred } = await onboard(deps.db, { ...user, language, invite: signIn.invite }, deps.welcome);
      return isReferred;
    });
  } catch (error) {
    deps.log.warn({ err: error }, 'onboarding failed; the next sign-in repeats it');
    return false;
  }
}
