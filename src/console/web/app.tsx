import { lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { EndSession, OperatorOnly, useConsole } from './operator.tsx';
import { Overview } from './pages/overview.tsx';
import { Loading } from './parts/states.tsx';

const pages = [{ path: '/', title: 'Overview', isThere: () => true }] as const;

export function App() {
  const [path] = useLocation();
  const { data } = useConsole();
  const current = pages.find((page) => (page.path === '/' ? path === '/' : path.startsWith(page.path)));
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const title = current?.title ?? 'Not found';
  useEffect(() => {
    document.title = `${title} · Atelier`;
    // Whoever navigates by keyboard or ear starts at the new page, not behind it.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  const present = pages.filter(({ isThere }) => isThere());
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="shell">
        <Link href="/" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" /> Atelier
        </Link>
        <nav aria-label="Pages">
          {present.map((page) => (
            <Link key={page.path} href={page.path} aria-current={page === current ? 'page' : undefined}>
              {page.title}
            </Link>
          ))}
        </nav>
        <footer>
          <EndSession />
          {data && <span className="quiet">Version {data.version}</span>}
        </footer>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <Switch>
            <Route path="/">
              <OperatorOnly>
                <Overview />
              </OperatorOnly>
            </Route>
            <Route>
              <Redirect to="/" replace />
            </Route>
          </Switch>
        </Suspense>
      </main>
    </>
  );
}
