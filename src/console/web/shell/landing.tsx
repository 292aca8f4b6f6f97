import { useQuery } from '@tanstack/react-query';
import { Images, LogIn, Pencil, Play, Sparkles } from 'lucide-react';
import { createElement, Suspense, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { ConsoleInfo, FirstPrices } from '../../api.ts';
import { callJson } from '../calls.ts';
import type { Kind } from '../library/dialogs.ts';
import { useConsole } from '../operator.tsx';
import { plural } from '../parts/figures.tsx';
import { rememberSignIn } from '../user.tsx';
import { submitOnEnter } from './browser.ts';
import texts from './landing.json' with { type: 'json' };
import { lazily } from './lazily.ts';
import { product } from './product.ts';

const kindOf = (prompt: string): Kind => (/\bvideo\b/i.test(prompt) ? 'video' : 'image');

/** The row of pictures of landing.webp, which are drawn for this page. */
const { pictures, features } = texts;

const Wanted = lazily(async () => (await import('../pages/explore.tsx')).Wanted);

/** For users who are not signed in. After the sign-in, the browser returns to the same URL. `wanted`: the title of its page. */
export function Landing({ wanted }: { readonly wanted: string | undefined }) {
  const { data: info } = useConsole();
  // It is still there after a canceled sign-in.
  const [text, setText] = useState<string>(history.state?.order?.prompt ?? '');
  const signIn = new URLSearchParams(location.search);
  const canStart = info?.addresses.agent !== undefined;
  // From the page of a share.
  const remixed = location.pathname === '/create' ? (signIn.get('prompt') ?? undefined) : undefined;
  const linked = remixed ?? location.pathname.includes('/explore/');
  const { data: prices } = useQuery({ queryKey: ['price'], queryFn: () => callJson<FirstPrices>('/api/price') });
  /** Signs in, and opens “Create” with the prompt. There, the user sees the price and orders, unless the price is known here. */
  function start(prompt: string, agreedCredits?: number) {
    if (info === undefined || prompt.trim() === '') return;
    rememberSignIn();
    const order = { kind: kindOf(prompt), prompt: prompt.trim(), ...(agreedCredits && { count: 1 }) };
    sessionStorage.setItem('atelier.order', JSON.stringify({ order, agreedCredits }));
    location.assign(signInOf(info, new URL('/create', location.href).href));
  }
  return (
    <div className="landing">
      <header>
        <span className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" /> {product}
        </span>
        <SignInAgain text={info?.hasDemoUsers ? 'Sign in as a demo user' : 'Sign in'} />
      </header>
      <main id="main">
        <Suspense>{linked && <Wanted />}</Suspense>
        <h1>{linked ? 'Sign in to remix this' : 'Images and videos from your words'}</h1>
        <p className="quiet lead">
          {remixed ??
            (wanted === undefined
              ? 'Describe what you imagine, and choose how many. Then refine it in conversation.'
              : `Sign in to see “${wanted}”. You then return to this page.`)}
        </p>
        {(remixed ?? wanted) !== undefined && <SignInAgain />}
        {signIn.has('auth_error') && (
          <p className="problem" role="alert">
            {signIn.get('auth_reason') === 'account_blocked'
              ? 'This account is blocked. Contact the operator of this service.'
              : 'The sign-in failed. Try again.'}
          </p>
        )}
        {canStart && (remixed ?? wanted) === undefined && (
          <form className="first" action={() => start(text)}>
            <textarea
              className="grows"
              aria-label="Prompt"
              placeholder="Describe an image or a video"
              rows={2}
              maxLength={4000}
              value={text}
              onChange={({ target }) => setText(target.value)}
              onKeyDown={submitOnEnter}
            />
            <button type="submit" className="primary" disabled={text.trim() === ''}>
              <Sparkles size={20} strokeWidth={1.75} aria-hidden="true" /> Continue
            </button>
          </form>
        )}
        <p className="quiet small">
          {info?.hasDemoUsers && 'Next, you choose a demo user with one click: no registration, no password. '}
          You then choose ratio and model, and see the price before you create anything.
        </p>
        <ul className="pictures" aria-label="Start with">
          {pictures.map((prompt, place) => {
            const kind = kindOf(prompt);
            const price = prices?.[kind] ?? undefined;
            return (
              <li key={prompt}>
                <button type="button" disabled={!canStart} onClick={() => start(prompt, price)}>
                  <img src="/landing.webp" alt="" style={{ objectPosition: `${place * 33.33}% 0` }} />
                  {kind === 'video' && (
                    <span className="play">
                      <Play size={20} strokeWidth={1.75} fill="currentColor" aria-hidden="true" />
                    </span>
                  )}
                  <span className="caption">
                    {prompt}
                    {price !== undefined && <small>{plural(price, 'credit')}</small>}
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
        <ul className="features">
          {features.map(([title, about], place) => (
            <li key={title}>
              {createElement([Sparkles, Pencil][place] ?? Images, { size: 20, strokeWidth: 1.75 })}
              <h2>{title}</h2>
              <p className="quiet">{about}</p>
            </li>
          ))}
        </ul>
      </main>
      <footer className="quiet small">
        <Link href="/operator">Operators</Link>
        {info && <span>Version {info.version}</span>}
      </footer>
    </div>
  );
}

/** Also for users whose session has ended. After the sign-in, the browser returns to the page. */
export function SignInAgain({ text }: { readonly text?: string }) {
  const { data: info } = useConsole();
  useLocation();
  return (
    info && (
      <a className={text ? 'button' : 'button primary'} href={signInOf(info, location.href)} onClick={rememberSignIn}>
        <LogIn size={16} strokeWidth={1.75} aria-hidden="true" />
        {text ?? 'Sign in'}
      </a>
    )
  );
}

const signInOf = ({ addresses }: ConsoleInfo, next: string) =>
  `${addresses.auth}/login?next=${encodeURIComponent(withoutError(next))}`;

function withoutError(href: string): string {
  const url = new URL(href);
  url.searchParams.delete('auth_error');
  url.searchParams.delete('auth_reason');
  return url.href;
}
