import { LogIn } from 'lucide-react';
import { useMemo } from 'react';
import { Link, useLocation } from 'wouter';
import type { ConsoleInfo } from '../../api.ts';
import { useConsole } from '../operator.tsx';
import { prepareDraft } from '../studio/draft.ts';
import { suggestions } from '../studio/suggestions.ts';
import { rememberSignIn } from '../user.tsx';
import { product } from './product.ts';

/** For users who are not signed in. After the sign-in, the browser returns to the same URL. */
export function Landing() {
  const { data: info } = useConsole();
  const here = useMemo(() => withoutError(location.href), []);
  const hasFailed = new URLSearchParams(location.search).has('auth_error');
  return (
    <div className="landing">
      <header>
        <span className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" /> {product}
        </span>
      </header>
      <main id="main">
        {/* Made by the offline renderer. */}
        <img className="pictures" src="/landing.webp" alt="" width="1200" height="288" />
        <h1>Images and videos, created in conversation</h1>
        <p className="quiet lead">Describe what you imagine. Refine it in words. Find everything in your library.</p>
        {hasFailed && (
          <p className="problem" role="alert">
            The sign-in failed. Try again.
          </p>
        )}
        {info && (
          <a className="button primary big" href={signInOf(info, here)} onClick={rememberSignIn}>
            <LogIn size={20} strokeWidth={1.75} aria-hidden="true" />
            {info.hasDemoUsers ? 'Sign in as a demo user' : 'Sign in'}
          </a>
        )}
        {info?.hasDemoUsers && (
          <p className="quiet small">Runs on this machine. You need no account and no password.</p>
        )}
        {info?.addresses.agent !== undefined && (
          <ul className="starts" aria-label="Start with">
            {suggestions.slice(0, 2).map(({ text, Icon }) => (
              <li key={text}>
                <button
                  type="button"
                  onClick={() => {
                    rememberSignIn();
                    const path = prepareDraft({ assetIds: [], text, isReady: true });
                    location.assign(signInOf(info, new URL(path, location.href).href));
                  }}
                >
                  <Icon size={20} strokeWidth={1.75} aria-hidden="true" /> {text}
                </button>
              </li>
            ))}
          </ul>
        )}
      </main>
      <footer className="quiet small">
        <Link href="/operator">Operators</Link>
        {info && <span>Version {info.version}</span>}
      </footer>
    </div>
  );
}

/** For users whose session has ended. After the sign-in, the browser returns to the page. */
export function SignInAgain() {
  const { data: info } = useConsole();
  useLocation();
  return (
    info && (
      <a className="button primary" href={signInOf(info, withoutError(location.href))}>
        <LogIn size={16} strokeWidth={1.75} aria-hidden="true" /> Sign in
      </a>
    )
  );
}

const signInOf = ({ addresses }: ConsoleInfo, next: string) =>
  `${addresses.auth}/login?next=${encodeURIComponent(next)}`;

function withoutError(href: string): string {
  const url = new URL(href);
  url.searchParams.delete('auth_error');
  return url.href;
}
